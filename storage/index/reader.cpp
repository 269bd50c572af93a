#include "evershard/storage/index/reader.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/index/fetching_cursor.hpp"
#include "evershard/storage/index/posting_cursor.hpp"
#include "evershard/storage/index/query_postings.hpp"
#include "evershard/storage/index/read_work.hpp"
#include "evershard/storage/index/record_fetch.hpp"
#include "evershard/storage/index/scan_cursor.hpp"
#include "evershard/storage/index/stream_walk.hpp"
#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/index/term_postings.hpp"
#include "evershard/storage/journal/event_body.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/order/order_lookup.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t fetched_units = 3'000;  ///< of spend(): an event is fetched alone

/// (after, until], and nothing above the watermark.
PositionRange range_of(const View& view, GlobalPosition after, GlobalPosition until) {
  until = std::min(until, view.watermark);
  if (after >= until) return {};
  return {after + 1, until};
}

Walk walk_of(const View& view, const ReadOptions& options) {
  GlobalPosition until = view.watermark;
  if (options.up_to) until = std::min(until, *options.up_to);
  if (options.before) until = std::min(until, options.before->value == 0 ? GlobalPosition{0} : *options.before - 1);
  return {range_of(view, options.after, until), options.direction};
}

sharding::CutOf of(const View& view) { return view.whole ? sharding::CutOf::store : sharding::CutOf::node; }

/// Of the tails, the newest first: what `find(tail)` says, if the view shows it.
template <class Find>
std::optional<FoundEvent> find_in_tails(const View& view, Find find) {
  for (std::size_t i = view.tails ? view.tails->size() : 0; i-- > 0;) {
    const TailIndex& tail = *(*view.tails)[i];
    const std::optional<std::uint32_t> event = find(tail);
    if (!event) continue;
    const GlobalPosition position = tail.first() + *event;
    if (!tail_range(view, i, {GlobalPosition{1}, view.watermark}).contains(position)) continue;
    return FoundEvent{position, tail.place(*event).location()};
  }
  return std::nullopt;
}

Result<std::optional<FoundEvent>> find_in_rows(const Rows& rows, const View& view, const std::string& key,
                                               IdKind kind) {
  const std::string_view keys[] = {key};
  auto batch = rows.get(Family::ids, keys);
  if (!batch) return refuse(std::move(batch).error());
  if (!(*batch)->found(0)) return std::nullopt;
  auto entry = decode_id_entry((*batch)->value(0));
  if (!entry) return refuse(std::move(entry).error());
  if (entry->kind != kind || entry->position > view.mark) return std::nullopt;
  return FoundEvent{entry->position, entry->location};
}

/// What the caller gave of an event, but for its id and its time.
bool same_content(const EventView& a, const EventView& b) {
  const auto content = [](const EventView& event) {
    return std::tie(event.state, event.aggregate_type, event.aggregate_value, event.type, event.tags_bytes,
                    event.also_bytes, event.format, event.metadata, event.payload);
  };
  return content(a) == content(b);
}

}  // namespace

Reader::Reader(const Store& store) : Reader(store.rows(), store.hasher(), store.identity().shards) {}

Reader::Reader(const Rows& rows, const sharding::TermHasher& hasher, std::uint32_t shards)
    : rows_(rows), hasher_(hasher), shards_(shards) {}

StreamWalk Reader::stream_of(const View& view, const AggregateId& aggregate, GlobalPosition up_to) const {
  std::string text = aggregate.text();
  const sharding::Term term = hasher_.aggregate(text);
  return {rows_, view, term, std::move(text), up_to};
}

std::unique_ptr<EventCursor> Reader::open(const View& view, const Query& query, const ReadOptions& options) const {
  const Walk walk = walk_of(view, options);
  if (query.is_all()) return std::make_unique<ScanCursor>(rows_, walk, options.limit, view.whole);
  return std::make_unique<QueryCursor>(rows_, view, query, hasher_, walk, options.limit);
}

std::unique_ptr<EventCursor> Reader::open(const View& view, const AggregateId& aggregate,
                                          const StreamOptions& options) const {
  const GlobalPosition up_to = std::min(view.watermark, options.up_to.value_or(view.watermark));
  return std::make_unique<StreamCursor>(rows_, view, aggregate, hasher_.aggregate(aggregate.text()), up_to,
                                        options.from, options.direction, options.limit);
}

Result<std::optional<FoundEvent>> Reader::first_match(const View& view, const Query& query, GlobalPosition after,
                                                      GlobalPosition up_to) const {
  const Walk walk{range_of(view, after, up_to), Direction::forwards};
  if (walk.range.empty()) return std::nullopt;
  if (query.is_all()) {
    std::vector<GlobalPosition> first{walk.range.first};
    if (!view.whole) {
      first.clear();
      EVERSHARD_TRY(ScanCursor(rows_, walk, 1, false).next_positions(1, first));
      if (first.empty()) return std::nullopt;
    }
    auto found = locate(rows_, first.front(), of(view));
    if (!found) return refuse(std::move(found).error());
    return *found;
  }
  PostingCursor postings(query_postings(rows_, view, query, hasher_, walk), walk);
  RecordFetch fetch(rows_);
  for (postings.seek(walk.begin()); postings.valid(); postings.next()) {
    EVERSHARD_TRY(spend(fetched_units));
    const FoundEvent found{postings.get().position, postings.get().location};
    auto record = fetch_one(fetch, found);
    if (!record) return refuse(std::move(record).error());
    if (query.matches(to_event(*record, found.position, found.location))) return found;
  }
  EVERSHARD_TRY(postings.status());
  return std::nullopt;
}

Result<StreamHead> Reader::head(const View& view, const AggregateId& aggregate) const {
  return head_at(view, aggregate, view.watermark);
}

Result<StreamHead> Reader::head_at(const View& view, const AggregateId& aggregate, GlobalPosition up_to) const {
  auto last = stream_of(view, aggregate, std::min(up_to, view.watermark)).last();
  if (!last) return refuse(std::move(last).error());
  if (!*last) return StreamHead{};
  return StreamHead{(*last)->seq_nr, (*last)->position};
}

Result<std::optional<FoundEvent>> Reader::find_id(const View& view, const EventId& id, ShardId shard) const {
  if (auto found = find_in_tails(view, [&](const TailIndex& tail) { return tail.find_id(id, shard); })) return found;
  return find_in_rows(rows_, view, keys::id(id, shard), IdKind::event);
}

Reader::Names::Names(const Reader& reader, const View& view) : rows_(reader.rows_), view_(view) {}

Result<std::optional<FoundEvent>> Reader::Names::find(const EventId& id, ShardId near) {
  if (auto found = find_in_tails(view_, [&](const TailIndex& tail) { return tail.find_named(id, near); })) return found;
  if (!sealed_) sealed_ = rows_.cursor(Family::ids, {.many_prefixes = true});
  const auto prefix = keys::id_prefix(id);
  std::optional<FoundEvent> found;
  for (sealed_->seek(prefix); sealed_->valid() && sealed_->key().starts_with(prefix); sealed_->next()) {
    auto entry = decode_id_entry(sealed_->value());
    if (!entry) return refuse(std::move(entry).error());
    if (entry->kind == IdKind::command || entry->position > view_.mark) continue;
    if (!found || entry->location.shard == near) found = FoundEvent{entry->position, entry->location};
  }
  EVERSHARD_TRY(sealed_->status());
  return found;
}

Result<std::optional<FoundEvent>> Reader::same_event(GlobalPosition position, std::string_view body) const {
  auto found = locate(rows_, position, sharding::CutOf::node);
  if (!found) return refuse(std::move(found).error());
  RecordFetch fetch(rows_);
  const auto stored = fetch_one(fetch, *found);
  if (!stored) return refuse(stored.error());
  EventView event;
  EVERSHARD_CHECK(parse_body(body, event), "a body that was made here is one");
  return same_content(*stored, event) ? std::optional(*found) : std::nullopt;
}

Result<RecordedEvent> Reader::load(const FoundEvent& found) const {
  RecordFetch fetch(rows_);
  auto record = fetch_one(fetch, found);
  if (!record) return refuse(std::move(record).error());
  return to_event(*record, found.position, found.location);
}

Result<StoredRequest> Reader::request_of(const FoundEvent& found) const {
  RecordFetch fetch(rows_);
  auto record = fetch_one(fetch, found);
  if (!record) return refuse(std::move(record).error());
  StoredRequest request;
  request.index = record->index;
  request.count = record->count;
  if (found.position.value <= record->index) {
    return damaged(found.location.shard, found.location.offset(), "its append begins before the first position");
  }
  request.first_position = found.position - record->index;
  FoundEvent first = found;
  if (record->index > 0) {
    auto located = locate(rows_, request.first_position, sharding::CutOf::node);
    if (!located) return refuse(std::move(located).error());
    first = *located;
    record = fetch_one(fetch, first);
    if (!record) return refuse(std::move(record).error());
  }
  if (record->index != 0 || !record->content_hash) {
    return damaged(first.location.shard, first.location.offset(), "it is not the first event of its append");
  }
  request.request = record->request.value_or(record->id);
  request.content_hash = *record->content_hash;
  return request;
}

Result<std::optional<StoredCommand>> Reader::find_command(const View& view, const AggregateId& aggregate,
                                                          std::string_view command_id) const {
  const EventId key = command_key(aggregate, command_id);
  auto found = find_in_tails(view, [&](const TailIndex& tail) { return tail.find_command(key); });
  if (!found) {
    const ShardId shard = sharding::shard_of(sharding::stream_hash(aggregate), shards_);
    auto sealed = find_in_rows(rows_, view, keys::id(key, shard), IdKind::command);
    if (!sealed) return refuse(std::move(sealed).error());
    if (!*sealed) return std::nullopt;
    found = *sealed;
  }
  RecordFetch fetch(rows_);
  auto record = fetch_one(fetch, *found);
  if (!record) return refuse(std::move(record).error());
  if (record->command_id != command_id) return std::nullopt;
  return StoredCommand{std::string(command_id), std::string(record->reply), found->position};
}

Result<std::optional<RecordedEvent>> Reader::event_at(const View& view, GlobalPosition position) const {
  if (position.value == 0 || position > view.watermark) return std::nullopt;
  auto found = locate(rows_, position, of(view));
  if (!found) return refuse(std::move(found).error());
  return load(*found);
}

}  // namespace evershard::storage
