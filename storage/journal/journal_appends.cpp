#include "evershard/storage/journal/journal_appends.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "evershard/storage/journal/event_terms.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {

Result<void> JournalAppends::begin(const EventView& event, ShardOffset offset, bool settled) {
  auto& [append, place] = appends_.emplace_back();
  place.shard = shard_;
  place.first = offset;
  left_ = settled ? 1 : event.count;
  if (event.index == 0) {
    append.request = event.request.value_or(event.id);
    append.content_hash = event.content_hash.value_or(0);
  }
  if (settled) return {};
  if (const auto* row = waiting_(offset)) {
    left_ = row->events;
    place.tentative = row->tentative;
    place.conditions = row->conditions;
    place.part = row->part;
    append.appended_at = row->appended_at;
  } else if (event.index != 0) {
    return corrupt("shard " + std::to_string(shard_.value) + ", offset " + std::to_string(offset.value) +
                   ": an append begins with its event " + std::to_string(event.index));
  }
  if (left_ == 0)
    return corrupt("shard " + std::to_string(shard_.value) + ", offset " + std::to_string(offset.value) +
                   ": an append has no events");
  return {};
}

std::uint32_t JournalAppends::aggregate(EncodedAppend& append, const EventView& event) const {
  EncodedAggregate aggregate;
  aggregate.id = {std::string(event.aggregate_type), std::string(event.aggregate_value)};
  const auto known = std::ranges::find(append.aggregates, aggregate.id, &EncodedAggregate::id);
  if (known != append.aggregates.end()) return static_cast<std::uint32_t>(known - append.aggregates.begin());
  aggregate.text = aggregate.id.text();
  aggregate.stream = hasher_.aggregate(aggregate.text);
  aggregate.shard = shard_;
  append.aggregates.push_back(std::move(aggregate));
  return static_cast<std::uint32_t>(append.aggregates.size() - 1);
}

Result<void> JournalAppends::take(const EventView& view, ShardOffset offset, bool settled) {
  if (left_ == 0) EVERSHARD_TRY(begin(view, offset, settled));
  --left_;
  auto& [append, place] = appends_.back();
  EncodedEvent event;
  event.id = view.id;
  event.id_given = true;
  event.shard = shard_;
  event.terms_begin = static_cast<std::uint32_t>(append.terms.size());
  add_terms(view, hasher_, append.terms);
  if (!view.aggregate_type.empty()) {
    event.aggregate = aggregate(append, view);
    append.terms.push_back(append.aggregates[event.aggregate].stream);
  }
  event.terms_end = static_cast<std::uint32_t>(append.terms.size());
  if (view.command_id) {
    append.command =
        command_key({std::string(view.aggregate_type), std::string(view.aggregate_value)}, *view.command_id);
    append.command_event = static_cast<std::uint32_t>(append.events.size());
  }
  place.seq_nrs.push_back(view.seq_nr);
  append.events.push_back(event);
  return {};
}

TailEvent entry_of(const UnorderedAppend& unordered, std::size_t i, const EventLocation& location) {
  const auto& append = unordered.append;
  const auto& event = append.events[i];
  TailEvent entry;
  entry.location = location;
  entry.id = event.id;
  entry.command = append.command_of(i);
  entry.seq_nr = unordered.place.seq_nrs[i];
  entry.terms = append.terms_of(event);
  if (event.aggregate != EncodedEvent::no_aggregate) {
    // The own aggregate's term stands last and is the stream's: a stream needs no postings.
    entry.terms = entry.terms.first(entry.terms.size() - 1);
    entry.stream = append.aggregates[event.aggregate].stream;
    entry.aggregate_text = append.aggregates[event.aggregate].text;
  }
  return entry;
}

}  // namespace evershard::storage
