#include "evershard/sharding/merge.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace evershard::sharding {

namespace {

constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();

Refused misused(ShardId shard, const std::string& why) {
  return refuse(ErrorCode::invalid_argument, "a page of shard " + std::to_string(shard.value) + ' ' + why);
}

std::string text(GlobalPosition position) { return "position " + std::to_string(position.value); }

}  // namespace

PageMerge::PageMerge(std::vector<ShardId> shards, Direction direction) : direction_(direction) {
  std::sort(shards.begin(), shards.end());
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  sources_.reserve(shards.size());
  for (const ShardId shard : shards) sources_.emplace_back().shard = shard;
  if (sources_.empty()) certain_to_ = everything;
}

Result<void> PageMerge::add(ShardPage page) {
  const auto source = std::lower_bound(sources_.begin(), sources_.end(), page.shard,
                                       [](const Source& s, ShardId shard) { return s.shard < shard; });
  if (source == sources_.end() || source->shard != page.shard) return misused(page.shard, "was not asked for");
  if (source->end) return misused(page.shard, "follows its end");
  const Along complete_to = along(page.complete_to);
  if (complete_to < source->complete_to) {
    return misused(page.shard, "is complete to " + text(page.complete_to) + ", behind the page before it");
  }
  Along last = source->complete_to;
  for (const RecordedEvent& event : page.events) {
    if (event.shard != page.shard) {
      return misused(page.shard,
                     "has an event of shard " + std::to_string(event.shard.value) + " at " + text(event.position));
    }
    if (along(event.position) <= last) return misused(page.shard, "has " + text(event.position) + " out of order");
    if (along(event.position) > complete_to) {
      return misused(page.shard, "has " + text(event.position) + ", beyond what it is complete to");
    }
    last = along(event.position);
  }

  const bool had_events = !source->events.empty();
  std::move(page.events.begin(), page.events.end(), std::back_inserter(source->events));
  source->complete_to = complete_to;
  source->end = page.end;
  if (!had_events && !source->events.empty()) push_head(static_cast<std::size_t>(source - sources_.begin()));
  certain_to_ = everything;
  for (const Source& s : sources_) {
    if (!s.end) certain_to_ = std::min(certain_to_, s.complete_to);
  }
  return {};
}

std::optional<RecordedEvent> PageMerge::next() {
  if (!certain()) return std::nullopt;
  std::pop_heap(heads_.begin(), heads_.end(), std::greater<>{});
  const std::size_t source = heads_.back().source;
  heads_.pop_back();
  std::optional<RecordedEvent> event(std::move(sources_[source].events.front()));
  sources_[source].events.pop_front();
  if (!sources_[source].events.empty()) push_head(source);
  return event;
}

std::vector<ShardId> PageMerge::waiting_for() const {
  std::vector<ShardId> shards;
  if (certain()) return shards;
  const Along head = heads_.empty() ? everything : heads_.front().at;
  for (const Source& source : sources_) {
    if (!source.end && source.complete_to < head) shards.push_back(source.shard);
  }
  return shards;
}

bool PageMerge::finished() const { return heads_.empty() && certain_to_ == everything; }

GlobalPosition PageMerge::complete_to() const {
  Along to = certain_to_;
  if (to == everything) {  // nothing follows of any shard: as far as any of them has looked
    to = 0;
    for (const Source& source : sources_) to = std::max(to, source.complete_to);
  }
  if (!heads_.empty()) to = std::min(to, heads_.front().at - 1);
  return GlobalPosition{direction_ == Direction::forwards ? to : everything - to};
}

PageMerge::Along PageMerge::along(GlobalPosition position) const {
  return direction_ == Direction::forwards ? position.value : everything - position.value;
}

void PageMerge::push_head(std::size_t source) {
  heads_.push_back({along(sources_[source].events.front().position), source});
  std::push_heap(heads_.begin(), heads_.end(), std::greater<>{});
}

}  // namespace evershard::sharding
