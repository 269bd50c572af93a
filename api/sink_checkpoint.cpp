#include "evershard/api/sink_checkpoint.hpp"

namespace evershard {
namespace {

std::string named(const SinkCheckpoint& checkpoint) {
  return "position " + std::to_string(checkpoint.position.value) + ", written under epoch " +
         std::to_string(checkpoint.epoch.value);
}

}  // namespace

Result<SinkCheckpoint> sink_taken_over(const std::optional<SinkCheckpoint>& found, const SinkWriter& writer,
                                       GlobalPosition watermark, const EventIdStanding& standing) {
  if (!found) return SinkCheckpoint{writer.store_id, writer.fork_id, GlobalPosition{0}, writer.epoch, {}};
  if (found->store_id != writer.store_id) {
    return refuse(ErrorCode::invalid_argument,
                  "the sink holds what store " + found->store_id + " made, this is store " + writer.store_id);
  }
  if (found->fork_id != writer.fork_id) {
    return refuse(ErrorCode::invalid_argument, "the sink stands at " + named(*found) + ", of fork " + found->fork_id +
                                                   " of the store; this is fork " + writer.fork_id +
                                                   ", restored or a clone: its history may be another one from some "
                                                   "position on; clear the sink and begin again");
  }
  if (found->epoch >= writer.epoch) {
    return refuse(ErrorCode::fenced, "the sink stands at " + named(*found) + ": a writer of epoch " +
                                         std::to_string(writer.epoch.value) + " comes too late");
  }
  if (found->position > watermark) {
    return refuse(ErrorCode::unavailable, "the sink stands at " + named(*found) +
                                              ", ahead of the store, which ends at " + std::to_string(watermark.value));
  }
  KeptPlace place(found->fork_id);
  if (found->event.given()) place.add({found->position, found->event});
  const auto settled = place.settle(found->position, writer.fork_id, watermark, standing);
  if (!settled) return refuse(settled.error());
  if (!settled->stands) {
    return refuse(ErrorCode::invalid_argument, "the sink stands at " + named(*found) +
                                                   ", where the store has another event: the store was put back from "
                                                   "an older copy and went another way; clear the sink and begin "
                                                   "again");
  }
  SinkCheckpoint next = *found;
  next.epoch = writer.epoch;
  return next;
}

Result<bool> sink_was_written(const std::optional<SinkCheckpoint>& found, const std::optional<SinkCheckpoint>& expected,
                              const SinkCheckpoint& next) {
  if (found == next) return true;
  if (found == expected) return false;
  return refuse(ErrorCode::fenced, found ? "the sink stands at " + named(*found) + ": another writer has taken it over"
                                         : "the sink was cleared under its writer");
}

}  // namespace evershard
