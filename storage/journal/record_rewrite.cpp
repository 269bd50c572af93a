#include "evershard/storage/journal/record_rewrite.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/index/record_fetch.hpp"
#include "evershard/storage/index/stream_walk.hpp"
#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {

RewriteFigures& RewriteFigures::operator+=(const RewriteFigures& more) {
  events += more.events;
  records += more.records;
  bytes_before += more.bytes_before;
  bytes_after += more.bytes_after;
  return *this;
}

Result<std::vector<RecordRewrite>> rewritten(const Rows& rows, std::span<const FoundEvent> events,
                                             const IsToGo& is_to_go, RewriteFigures& figures, EventState to) {
  std::vector<RecordRewrite> rewrites;
  for (std::size_t i = 0; i < events.size();) {
    const ShardId shard = events[i].location.shard;
    const ShardOffset first = events[i].location.record;
    const auto key = keys::journal(shard, first);
    const std::string_view wanted[] = {key};
    auto row = rows.get(Family::journal, wanted);
    if (!row) return refuse(std::move(row).error());
    if (!(*row)->found(0)) return damaged(shard, events[i].location.offset(), "the journal has no such record");
    const auto bytes = (*row)->value(0);
    auto view = RecordView::open(bytes, shard, first);
    if (!view) return refuse(std::move(view).error());

    std::vector<std::pair<std::uint16_t, EventState>> stubs;
    for (; i < events.size() && events[i].location.shard == shard && events[i].location.record == first; ++i) {
      auto event = view->event(events[i].location.index);
      if (!event) return refuse(std::move(event).error());
      if (event->state == EventState::removed) continue;
      auto goes = is_to_go(*event, events[i]);
      if (!goes) return refuse(std::move(goes).error());
      if (*goes) stubs.emplace_back(events[i].location.index, to);
    }
    if (stubs.empty()) continue;
    auto record = with_stubs(bytes, shard, first, stubs);
    if (!record) return refuse(std::move(record).error());
    figures += {stubs.size(), 1, bytes.size(), record->size()};
    auto& rewrite = rewrites.emplace_back(RecordRewrite{shard, first, *std::move(record), bytes.size(), {}, to});
    for (const auto& [index, state] : stubs) rewrite.stubs.push_back(first + index);
  }
  return rewrites;
}

StreamRemoval::StreamRemoval(const Store& store, const View& view, AggregateId aggregate, SeqNr from, SeqNr before)
    : store_(store), view_(view), aggregate_(std::move(aggregate)), next_(std::max(from, SeqNr{1})), before_(before) {}

Result<std::vector<RecordRewrite>> StreamRemoval::next(std::size_t bytes) {
  const auto text = aggregate_.text();
  StreamWalk walk(store_.rows(), view_, store_.hasher().aggregate(text), text, view_.watermark);
  const auto is_ours = [&](const EventView& event, const FoundEvent& found) -> Result<bool> {
    if (event.aggregate_type == aggregate_.type && event.aggregate_value == aggregate_.value && event.seq_nr < before_)
      return true;
    return damaged(found.location.shard, found.location.offset(),
                   "the index has it under " + in_quotes(text) + ", the record is another's: nothing is removed");
  };
  std::vector<RecordRewrite> rewrites;
  std::vector<NumberedEntry> block;
  std::vector<FoundEvent> found;  // those of one record: it is written once
  std::uint64_t looked_at = 0;
  const auto write = [&]() -> Result<void> {
    // An event's own bytes are not known here: a record is counted in full.
    const auto before = figures_.bytes_before;
    auto more = rewritten(store_.rows(), found, is_ours, figures_);
    if (!more) return refuse(std::move(more).error());
    std::ranges::move(*more, std::back_inserter(rewrites));
    next_ = next_ + found.size();
    looked_at += figures_.bytes_before - before + found.size() * 64;
    found.clear();
    return {};
  };
  for (SeqNr at = next_; at < before_ && looked_at < bytes;) {
    EVERSHARD_TRY(walk.fill(at, Direction::forwards, block));
    if (block.empty())
      return refuse(ErrorCode::corruption,
                    "stream " + in_quotes(text) + " ends before seq_nr " + std::to_string(at.value));
    for (const auto& entry : block) {
      if (entry.seq_nr >= before_) break;
      const bool other = !found.empty() && (found.back().location.shard != entry.location.shard ||
                                            found.back().location.record != entry.location.record);
      if (other) EVERSHARD_TRY(write());
      if (looked_at >= bytes) break;
      found.push_back({entry.position, entry.location});
      at = entry.seq_nr + 1;
    }
  }
  if (!found.empty()) EVERSHARD_TRY(write());
  return rewrites;
}

}  // namespace evershard::storage
