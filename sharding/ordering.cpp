#include "evershard/sharding/ordering.hpp"

#include <string>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::sharding {

Ordering::Ordering(OrderState start, Options options)
    : builder_(std::move(start), options.window_events_max), cuts_held_max_(options.cuts_held_max) {}
Ordering::~Ordering() = default;
Ordering::Ordering(Ordering&&) noexcept = default;
Ordering& Ordering::operator=(Ordering&&) noexcept = default;

GlobalPosition Ordering::place(std::span<const EventToPlace> events, std::span<ShardOffset> offsets) {
  EVERSHARD_CHECK(events.size() == offsets.size(), "each event gets an offset");
  const GlobalPosition first = next_position();
  for (std::size_t i = 0; i != events.size(); ++i) offsets[i] = builder_.place(events[i].shard, events[i].terms);
  return first;
}

Cut Ordering::cut() {
  EVERSHARD_CHECK(!builder_.empty(), "a cut of one process has events");
  return builder_.cut();
}

Reported Ordering::report(Report report) {
  if (report.shard.value >= builder_.shard_count()) return Reported::malformed;
  const Epoch epoch = builder_.shard(report.shard).epoch;
  return reports().take(std::move(report), epoch);
}

ShardOffset Ordering::known_end(ShardId shard) const {
  EVERSHARD_CHECK(shard.value < builder_.shard_count(), "the shard exists");
  return reports_ ? reports_->end(shard) : builder_.shard(shard).next;
}

Result<Epoch> Ordering::open(ShardId shard, std::uint32_t node, ShardOffset tail) {
  if (shard.value >= builder_.shard_count()) {
    return refuse(ErrorCode::invalid_argument, "there is no shard " + std::to_string(shard.value) + " in a store of " +
                                                   std::to_string(builder_.shard_count()) + " shards");
  }
  const OrderState::Shard& covered = builder_.shard(shard);
  if (tail < covered.next) {
    return refuse(ErrorCode::corruption, "shard " + std::to_string(shard.value) + " of node " + std::to_string(node) +
                                             " ends before offset " + std::to_string(tail.value) +
                                             ", the cuts cover it up to offset " + std::to_string(covered.next.value) +
                                             ": it has lost data");
  }
  const Epoch epoch = covered.epoch + 1;
  reports().forget(shard, covered.next);
  builder_.open({shard, epoch, node, tail});
  return epoch;
}

Result<Opening> Ordering::open_losing(ShardId shard, std::uint32_t node, ShardOffset lost_from) {
  if (shard.value >= builder_.shard_count()) {
    return refuse(ErrorCode::invalid_argument, "there is no shard " + std::to_string(shard.value) + " in a store of " +
                                                   std::to_string(builder_.shard_count()) + " shards");
  }
  const OrderState::Shard& covered = builder_.shard(shard);
  if (lost_from >= covered.next) {
    return refuse(ErrorCode::invalid_argument, "shard " + std::to_string(shard.value) +
                                                   " has lost nothing from offset " + std::to_string(lost_from.value) +
                                                   " on: the cuts cover it up to offset " +
                                                   std::to_string(covered.next.value));
  }
  const Opening opening{shard, covered.epoch + 1, node, covered.next, lost_from, covered.next};
  reports().forget(shard, covered.next);
  builder_.open(opening);
  return opening;
}

std::optional<Cut> Ordering::make_cut(bool in_any_case) {
  if (!reports().any() && builder_.empty() && !in_any_case) return std::nullopt;
  reports().place(builder_, cuts_held_max_);
  return builder_.cut();
}

Reports& Ordering::reports() {
  if (!reports_) reports_ = std::make_unique<Reports>(builder_.state().shards);
  return *reports_;
}

}  // namespace evershard::sharding
