#include "evershard/storage/journal/append_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "evershard/storage/journal/event_terms.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {

Result<void> AppendReader::begin(const EventView& event, ShardOffset offset, const WaitingRow* waiting) {
  const bool alone = offset < settled_;
  if (waiting == nullptr && !alone && (event.index != 0 || event.count == 0))
    return corrupt("shard " + std::to_string(shard_.value) + ", offset " + std::to_string(offset.value) +
                   ": an append begins with its event " + std::to_string(event.index) + " of " +
                   std::to_string(event.count));
  auto& [append, place] = appends_.emplace_back();
  place.shard = shard_;
  place.first = offset;
  left_ = alone ? 1 : event.count;
  if (event.index == 0) {
    append.request = event.request.value_or(event.id);
    append.content_hash = event.content_hash.value_or(0);
    if (event.request) append.request_key = request_key(*event.request, event.id);
  }
  if (waiting == nullptr) return {};
  left_ = waiting->events;
  place.tentative = waiting->tentative;
  place.conditions = waiting->conditions;
  place.part = waiting->part;
  append.appended_at = waiting->appended_at;
  return {};
}

std::uint32_t AppendReader::aggregate(EncodedAppend& append, const EventView& event) const {
  const auto is_it = [&](const EncodedAggregate& known) {
    return known.id.type == event.aggregate_type && known.id.value == event.aggregate_value;
  };
  if (!append.aggregates.empty() && is_it(append.aggregates.back()))
    return static_cast<std::uint32_t>(append.aggregates.size() - 1);
  const auto known = std::ranges::find_if(append.aggregates, is_it);
  if (known != append.aggregates.end()) return static_cast<std::uint32_t>(known - append.aggregates.begin());
  EncodedAggregate aggregate;
  aggregate.id = {std::string(event.aggregate_type), std::string(event.aggregate_value)};
  aggregate.text = aggregate.id.text();
  aggregate.stream = hasher_.aggregate(aggregate.text);
  aggregate.shard = shard_;
  append.aggregates.push_back(std::move(aggregate));
  return static_cast<std::uint32_t>(append.aggregates.size() - 1);
}

Result<void> AppendReader::take(const EventView& view, ShardOffset offset, const WaitingRow* waiting) {
  if (left_ == 0) EVERSHARD_TRY(begin(view, offset, waiting));
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

Result<void> AppendReader::finish(ShardOffset end) const {
  if (left_ == 0) return {};
  return corrupt("shard " + std::to_string(shard_.value) + " ends before offset " + std::to_string(end.value) +
                 ", within an append");
}

TailEvent tail_event(const UnorderedAppend& of, std::size_t i, const EventLocation& location) {
  const auto& append = of.append;
  const auto& event = append.events[i];
  TailEvent entry;
  entry.location = location;
  entry.id = event.id;
  entry.command = append.command_of(i);
  entry.request = append.request_of(i);
  entry.terms = append.terms_of(event);
  entry.seq_nr = of.place.seq_nrs[i];
  if (event.aggregate != EncodedEvent::no_aggregate) {
    // The own aggregate's term stands last and is the stream's: a stream needs no postings.
    entry.terms = entry.terms.first(entry.terms.size() - 1);
    entry.stream = append.aggregates[event.aggregate].stream;
    entry.aggregate_text = append.aggregates[event.aggregate].text;
  }
  return entry;
}

}  // namespace evershard::storage
