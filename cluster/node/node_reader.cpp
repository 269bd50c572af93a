#include "evershard/cluster/node/node_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/index/memory_only.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t page_bytes_max = 1u << 20;
constexpr std::chrono::milliseconds foreign_shard_wait_max{500};

}  // namespace

void NodeReader::owns(std::vector<ShardId> shards) {
  {
    const std::lock_guard lock(mutex_);
    own_ = std::move(shards);
    owns_all_.store(own_.size() == store_.identity().shards, std::memory_order_release);
  }
  changed_.notify_all();
}

bool NodeReader::owns(ShardId shard) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::find(own_, shard) != own_.end();
}

void NodeReader::closes(std::map<ShardId, Error> shards) {
  const std::lock_guard lock(mutex_);
  closed_ = std::move(shards);
}

ShardId NodeReader::shard_of(const AggregateId& aggregate) const {
  return sharding::shard_of(sharding::stream_hash(aggregate), store_.identity().shards);
}

Result<storage::View> NodeReader::view_at(GlobalPosition up_to, const std::vector<ShardId>& shards) {
  const auto wait_max = storage::MemoryOnly::current() != nullptr ? std::chrono::milliseconds(0) : wait_max_;
  EVERSHARD_TRY(watch_.wait_for(up_to, wait_max));
  std::unique_lock lock(mutex_);
  const auto owned = [&](ShardId shard) { return std::ranges::find(own_, shard) != own_.end(); };
  // The asker may have applied the cut that opened it a moment before this node does.
  changed_.wait_for(lock, std::min(wait_max, foreign_shard_wait_max),
                    [&] { return std::ranges::all_of(shards, owned); });
  auto view = store_.view();
  for (const ShardId shard : shards) {
    if (owned(shard)) continue;
    if (const auto closed = closed_.find(shard); closed != closed_.end()) return refuse(closed->second);
    ErrorDetails details;
    details.shard = shard;
    return refuse(ErrorCode::wrong_shard, "shard " + std::to_string(shard.value) + " is not this node's",
                  std::move(details));
  }
  return view;
}

void NodeReader::lost(std::map<ShardId, std::vector<storage::LostRange>> lost) {
  const std::lock_guard lock(mutex_);
  lost_ = std::move(lost);
}

Result<void> NodeReader::nothing_lost(ShardId shard, GlobalPosition after, GlobalPosition up_to) const {
  const auto found = lost_.find(shard);
  if (found == lost_.end()) return {};
  for (const auto& range : found->second) {
    if (up_to <= range.after || range.up_to <= after) continue;
    ErrorDetails details;
    details.shard = shard;
    details.position = range.up_to;
    details.offset = range.from;
    return refuse(ErrorCode::corruption,
                  "shard " + std::to_string(shard.value) + " has lost " + std::to_string(range.until - range.from) +
                      " events for good, at positions between " + std::to_string(range.after.value + 1) + " and " +
                      std::to_string(range.up_to.value) + ", as an operator accepted; read what is behind position " +
                      std::to_string(range.up_to.value) + ", or start its node with --skip-lost",
                  std::move(details));
  }
  return {};
}

// The lost events may have been this aggregate's. A reader that begins behind the last version it has seen has missed
// nothing if that version is there and lies behind the loss. If that version is not there, it may be among the lost
// events.
Result<void> NodeReader::stream_is_whole(const storage::View& view, const AggregateId& aggregate,
                                         const StreamOptions& options) {
  const auto shard = shard_of(aggregate);
  {
    const std::lock_guard lock(mutex_);
    if (!lost_.contains(shard)) return {};
  }
  GlobalPosition after{0}, up_to = *options.up_to;
  if (options.from && options.from->value > 1) {
    const bool backwards = options.direction == Direction::backwards;
    const SeqNr seen{options.from->value - (backwards ? 0 : 1)};
    const auto cursor = reader_.open(view, aggregate, StreamOptions{seen, 1, options.direction, options.up_to});
    std::vector<RecordedEvent> first;
    EVERSHARD_TRY(cursor->next(1, page_bytes_max, first));
    if (!first.empty() && first.front().seq_nr == seen) (backwards ? up_to : after) = first.front().position;
  }
  const std::lock_guard lock(mutex_);
  return nothing_lost(shard, after, up_to);
}

Result<void> NodeReader::knows_own_from(GlobalPosition after) {
  const std::lock_guard lock(mutex_);
  for (const auto& [shard, ranges] : lost_) {
    if (std::ranges::find(own_, shard) != own_.end()) EVERSHARD_TRY(nothing_lost(shard, after, watch_.watermark()));
  }
  return {};
}

Result<storage::View> NodeReader::view_of(const NodePageAsked& asked) {
  {
    const std::lock_guard lock(mutex_);
    for (const ShardId shard : asked.shards) EVERSHARD_TRY(nothing_lost(shard, asked.after, asked.up_to));
  }
  return view_at(asked.up_to, asked.shards);
}

Result<NodeReader::Visited> NodeReader::visit(const NodePageAsked& asked, const RecordedVisitor& visitor) {
  const auto view = view_of(asked);
  if (!view) return refuse(view.error());
  ReadOptions options;
  options.after = asked.after;
  options.up_to = asked.up_to;
  options.direction = asked.direction;
  const auto cursor = reader_.open(*view, asked.query, options);
  Visited visited;
  while (visited.events == 0 && !cursor->at_end()) {
    bool any = false;
    EVERSHARD_TRY(cursor->visit(asked.events_max, page_bytes_max, [&](const RecordedView& event) {
      any = true;
      visited.complete_to = event.position;
      if (!std::ranges::binary_search(asked.shards, event.shard)) return;
      ++visited.events;
      visitor(event);
    }));
    if (!any) break;
  }
  visited.end = cursor->at_end();
  if (visited.end) visited.complete_to = asked.direction == Direction::forwards ? asked.up_to : asked.after + 1;
  return visited;
}

Result<NodePage> NodeReader::read(const NodePageAsked& asked) {
  if (!asked.names.empty()) return read_names(asked);
  NodePage page;
  const auto visited = visit(asked, [&](const RecordedView& event) { page.events.push_back(event.event()); });
  if (!visited) return refuse(visited.error());
  page.complete_to = visited->complete_to;
  page.end = visited->end;
  return page;
}

Result<NodePage> NodeReader::read_names(const NodePageAsked& asked) {
  const auto view = view_of(asked);
  if (!view) return refuse(view.error());
  NodePage page;
  auto names = reader_.names(*view);
  for (const auto& name : asked.names) {
    auto found = names.find(name, asked.shards.front());
    if (!found) return refuse(std::move(found).error());
    if (!*found || (*found)->position <= asked.after || (*found)->position > asked.up_to) continue;
    auto event = reader_.load(**found);
    if (!event) return refuse(std::move(event).error());
    if (std::ranges::binary_search(asked.shards, event->shard)) page.events.push_back(std::move(*event));
    if (page.events.size() >= asked.events_max) break;
  }
  page.complete_to = asked.up_to;
  page.end = true;
  return page;
}

Result<NodeReader::Visited> NodeReader::visit_stream(const NodeStreamAsked& asked, const RecordedVisitor& visitor) {
  auto view = view_at(asked.up_to, {shard_of(asked.aggregate)});
  if (!view) return refuse(std::move(view).error());
  auto options = asked.options;
  options.up_to = std::min(asked.up_to, options.up_to.value_or(asked.up_to));
  EVERSHARD_TRY(stream_is_whole(*view, asked.aggregate, options));
  const auto cursor = reader_.open(*view, asked.aggregate, options);
  Visited visited;
  EVERSHARD_TRY(cursor->visit(asked.events_max, page_bytes_max, [&](const RecordedView& event) {
    ++visited.events;
    visited.last_seq_nr = event.seq_nr;
    visitor(event);
  }));
  visited.end = cursor->at_end();
  return visited;
}

Result<NodePage> NodeReader::read_stream(const NodeStreamAsked& asked) {
  NodePage page;
  const auto visited = visit_stream(asked, [&](const RecordedView& event) { page.events.push_back(event.event()); });
  if (!visited) return refuse(visited.error());
  page.end = visited->end;
  return page;
}

Result<AggregateInfo> NodeReader::head(const NodeHeadAsked& asked) {
  const auto shard = shard_of(asked.aggregate);
  auto view = view_at(asked.up_to, {shard});
  if (!view) return refuse(std::move(view).error());
  auto head = reader_.head_at(*view, asked.aggregate, asked.up_to);
  if (!head) return refuse(std::move(head).error());
  {
    // Without events behind the loss, what was lost may have been its last ones, or all.
    const std::lock_guard lock(mutex_);
    EVERSHARD_TRY(nothing_lost(shard, head->last_position, asked.up_to));
  }
  if (asked.shown) {
    auto hidden = hidden_.hides(*view, asked.aggregate, *head);
    if (!hidden) return refuse(std::move(hidden).error());
    if (*hidden) {
      return refuse(ErrorCode::not_found, "aggregate " + in_quotes(asked.aggregate.text()) +
                                              " was removed at position " + std::to_string(head->last_position.value) +
                                              ", at version " + std::to_string(head->version.value));
    }
  }
  return AggregateInfo{asked.aggregate, head->version, head->last_position, shard};
}

Result<std::vector<RecordedSnapshot>> NodeReader::snapshots(const NodeSnapshotsAsked& asked) {
  auto view = view_at(asked.up_to, {shard_of(asked.aggregate)});
  if (!view) return refuse(std::move(view).error());
  using Which = NodeSnapshotsAsked::Which;
  const auto now = Timestamp::now();
  if (asked.which == Which::all) {
    auto all = reader_.snapshots(asked.aggregate, now);
    if (all && all->empty()) EVERSHARD_TRY(had_no_snapshot(*view, asked.aggregate, asked.up_to));
    return all;
  }
  auto one = asked.which == Which::latest ? reader_.latest_snapshot(asked.aggregate)
             : asked.which == Which::at_or_before
                 ? reader_.snapshot_at(asked.aggregate, SeqNr{asked.at}, now)
                 : reader_.snapshot_as_of(asked.aggregate, GlobalPosition{asked.at}, now);
  if (!one) return refuse(std::move(one).error());
  std::vector<RecordedSnapshot> found;
  if (*one)
    found.push_back(std::move(**one));
  else
    EVERSHARD_TRY(had_no_snapshot(*view, asked.aggregate, asked.up_to));
  return found;
}

// As of head(): what was lost may have had one.
Result<void> NodeReader::had_no_snapshot(const storage::View& view, const AggregateId& aggregate,
                                         GlobalPosition up_to) {
  const auto shard = shard_of(aggregate);
  {
    const std::lock_guard lock(mutex_);
    if (!lost_.contains(shard)) return {};
  }
  const auto head = reader_.head_at(view, aggregate, up_to);
  if (!head) return refuse(head.error());
  const std::lock_guard lock(mutex_);
  return nothing_lost(shard, head->last_position, up_to);
}

// The record lies with the command's first event. Its last one is the append's last: a command's events are its
// aggregate's, side by side.
Result<std::optional<NodeReader::StoredCommand>> NodeReader::command(const AggregateId& aggregate, std::string_view id,
                                                                     GlobalPosition up_to) {
  auto view = view_at(up_to, {shard_of(aggregate)});
  if (!view) return refuse(std::move(view).error());
  auto found = reader_.find_command(*view, aggregate, id);
  if (!found) return refuse(std::move(found).error());
  if (!*found) return std::nullopt;
  auto event = reader_.event_at(*view, (*found)->position);
  if (event && *event && (*event)->append_index + 1 < (*event)->append_events) {
    event = reader_.event_at(*view, (*found)->position + ((*event)->append_events - (*event)->append_index - 1));
  }
  if (!event) return refuse(std::move(event).error());
  if (!*event) return refuse(ErrorCode::corruption, "the append of a command record ends before its last event");
  return StoredCommand{std::move((*found)->reply), (*event)->seq_nr, (*event)->position};
}

Result<std::vector<AggregateInfo>> NodeReader::aggregates(const NodeAggregatesAsked& asked) {
  auto view = view_at(asked.up_to, asked.shards);
  if (!view) return refuse(std::move(view).error());
  {
    const std::lock_guard lock(mutex_);
    for (const ShardId shard : asked.shards) EVERSHARD_TRY(nothing_lost(shard, GlobalPosition{0}, asked.up_to));
  }
  std::vector<AggregateInfo> found;
  auto after = asked.after;
  while (found.size() < asked.limit) {
    const auto wanted = asked.limit - found.size();
    auto page = reader_.aggregates(*view, asked.type, after, wanted);
    if (!page) return page;
    if (page->empty()) break;
    after = page->back().aggregate;
    const bool last = page->size() < wanted;
    for (auto& info : *page) {
      if (!std::ranges::binary_search(asked.shards, info.shard)) continue;
      auto hidden = hidden_.hides(*view, info.aggregate, {info.version, info.last_position});
      if (!hidden) return refuse(std::move(hidden).error());
      if (!*hidden) found.push_back(std::move(info));
    }
    if (last) break;
  }
  return found;
}

}  // namespace evershard::cluster
