#include "evershard/api/sink.hpp"

#include <utility>

#include "evershard/api/settled_place.hpp"
#include "evershard/protocol/reserved.hpp"

namespace evershard {

Result<Sink> Sink::begin(EventStore& store, const SinkWriter& writer, SinkTarget& target, SinkOptions options) {
  EVERSHARD_TRY(options.query.check());
  if (options.page_events_max == 0)
    return refuse(ErrorCode::invalid_argument, "page_events_max is 0: a sink with pages of 0 events writes nothing");
  auto found = target.checkpoint();
  if (!found) return refuse(std::move(found).error());
  auto watermark = store.head();
  if (!watermark) return refuse(std::move(watermark).error());
  if (*found && (*found)->store_id == writer.store_id && (*found)->fork_id == writer.fork_id &&
      (*found)->position > *watermark) {
    if (const auto reached = store.wait_for((*found)->position, options.watermark_timeout))
      watermark = *reached;  // a node may be behind
  }
  auto next = sink_taken_over(*found, writer, *watermark, standing_in(store));
  if (!next) return refuse(std::move(next).error());

  Sink sink(store, target, std::move(options));
  sink.checkpoint_ = *std::move(found);
  sink.pending_ = Pending{{}, *std::move(next)};
  auto taken = sink.write_pending();
  for (int tries = 0; !taken && taken.error().code == ErrorCode::timeout && tries < 5; ++tries)
    taken = sink.write_pending();
  if (!taken) return refuse(std::move(taken).error());
  return sink;
}

/// Zeros where nobody can say just now.
EventId Sink::id_at(GlobalPosition position) {
  if (!pending_->events.empty() && pending_->events.back().position == position) return pending_->events.back().id;
  const auto there = store_->event_at(position);
  return there ? there->id : EventId{};
}

Result<void> Sink::write_pending() {
  const auto stop_where_fenced = [this](Error error) -> Refused {
    if (error.code == ErrorCode::fenced) fenced_ = error;
    return refuse(std::move(error));
  };
  const bool again = pending_->tried;
  if (again) {
    const auto found = target_->checkpoint();
    if (!found) return refuse(found.error());
    const auto written = sink_was_written(*found, checkpoint_, pending_->next);
    if (!written) return stop_where_fenced(written.error());
    if (*written) {
      checkpoint_ = std::move(pending_->next);
      pending_.reset();
      return {};
    }
  }
  pending_->tried = true;
  if (auto written = target_->write(pending_->events, checkpoint_, pending_->next); !written) {
    if (!again || written.error().code != ErrorCode::fenced) return stop_where_fenced(std::move(written).error());
    // The try before may have been committed between the look and the write: then it was this sink's own.
    const auto found = target_->checkpoint();
    if (!found) return refuse(found.error());
    const auto own = sink_was_written(*found, checkpoint_, pending_->next);
    // One of another sink, or that cannot be read, is not this one's: what was refused is told.
    if (!own || !*own) return stop_where_fenced(std::move(written).error());
  }
  checkpoint_ = std::move(pending_->next);
  pending_.reset();
  return {};
}

Result<Sink::Step> Sink::step(std::chrono::milliseconds timeout) {
  if (fenced_) return refuse(*fenced_);
  if (pending_) {
    Step step{pending_->events.size(), false, {}};
    EVERSHARD_TRY(write_pending());
    return step;
  }
  if (!feed_)
    feed_ = store_->follow(options_.query,
                           FollowOptions{.after = checkpoint_->position, .page_events_max = options_.page_events_max});
  auto item = feed_->next(timeout);
  if (!item) {
    feed_.reset();  // the next call begins behind the checkpoint again
    // Another fork is followed by nobody who began with this one.
    if (item.error().code == ErrorCode::invalid_argument) fenced_ = item.error();
    return refuse(std::move(item).error());
  }
  std::erase_if(item->events, [](const RecordedEvent& event) { return is_own(event); });
  const bool quiet = item->kind == FeedItem::Kind::idle && !item->away;
  Step step{item->events.size(), item->kind == FeedItem::Kind::caught_up || quiet, item->away};
  if (item->events.empty() && item->watermark.value < checkpoint_->position.value + options_.empty_positions_max)
    return step;
  pending_ = Pending{std::move(item->events), *checkpoint_};
  pending_->next.position = item->watermark;
  pending_->next.event = id_at(item->watermark);
  EVERSHARD_TRY(write_pending());
  return step;
}

Result<Epoch> claim_sink(EventStore& store, const std::string& name) {
  Event event;
  event.id = EventId::random();
  event.aggregate = AggregateId{"$sink", name};
  event.type = "$SinkClaimed";
  auto claimed = store.append(Append{}.event(std::move(event)));
  if (!claimed) return refuse(std::move(claimed).error());
  return Epoch(claimed->versions.front().version.value);
}

}  // namespace evershard
