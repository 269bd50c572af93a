// Records as a commit makes them, next to the events they were made of.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/journal/encoded_append.hpp"
#include "evershard/storage/journal/records.hpp"

namespace evershard::storage {

inline const sharding::TermHasher example_hasher{0x5eed};
inline constexpr Timestamp example_now{1'769'860'800'000'000};

/// `ids_given`: the same for every event.
inline EncodedAppend encode_example(Append append, bool ids_given = true, std::uint32_t shard_count = 16) {
  const auto given = std::make_unique<bool[]>(append.events.size());
  std::fill_n(given.get(), append.events.size(), ids_given);
  const std::size_t events = append.events.size();
  return encode_append(std::move(append), {given.get(), events}, shard_count, example_hasher, example_now);
}

/// The append's events with seq_nrs 1, 2, ...: all in one record, whatever their shards.
inline std::string record_of(const EncodedAppend& append, ShardId shard, ShardOffset first) {
  RecordBuilder builder;
  builder.begin(shard, first);
  SeqNr seq_nr{1};
  for (const EncodedEvent& event : append.events) {
    builder.add(append.body_of(event), event.body_hash,
                event.aggregate == EncodedEvent::no_aggregate ? SeqNr{0} : seq_nr);
    ++seq_nr;
  }
  return std::string(builder.finish());
}

/// What a reader gets of such a record. Positions are offsets.
inline Result<std::vector<RecordedEvent>> events_of(std::string_view record, ShardId shard, ShardOffset first) {
  const auto view = RecordView::open(record, shard, first);
  if (!view) return Refused(view.error());
  std::vector<RecordedEvent> events;
  for (std::size_t i = 0; i < view->size(); ++i) {
    const auto event = view->event(i);
    if (!event) return Refused(event.error());
    events.push_back(
        to_event(*event, GlobalPosition{(first + i).value}, {shard, first, static_cast<std::uint16_t>(i)}));
  }
  return events;
}

/// What should come back of an append's event, by its index, with all its parts as given.
inline RecordedEvent recorded(const Append& append, std::size_t index, ShardId shard, ShardOffset offset,
                              SeqNr seq_nr) {
  const Event& event = append.events[index];
  RecordedEvent expected;
  expected.position = GlobalPosition{offset.value};
  expected.shard = shard;
  expected.offset = offset;
  expected.id = event.id;
  expected.aggregate = event.aggregate;
  expected.seq_nr = event.aggregate ? seq_nr : SeqNr{0};
  expected.type = event.type;
  expected.tags = event.tags;
  expected.also = event.also;
  expected.payload = event.payload;
  expected.format = event.format;
  expected.metadata = event.metadata;
  expected.occurred_at = event.occurred_at.value_or(example_now);
  expected.append_index = static_cast<std::uint32_t>(index);
  expected.append_events = static_cast<std::uint32_t>(append.events.size());
  return expected;
}

/// A command's two events of order-1 and one without an aggregate: every part of a body is there.
inline Append example_append() {
  Event placed;
  placed.id = *EventId::parse("00010203-0405-4607-8809-0a0b0c0d0e0f");
  placed.aggregate = AggregateId{"order", "1"};
  placed.type = "Placed";
  placed.tags = {"a", "b"};
  placed.also = {{"c", "42"}};
  placed.payload = "{}";
  placed.format = PayloadFormat::json;
  placed.metadata = "m";
  placed.occurred_at = Timestamp{1};
  Event paid;
  paid.id = *EventId::parse("10111213-1415-4617-9819-1a1b1c1d1e1f");
  paid.aggregate = AggregateId{"order", "1"};
  paid.type = "Paid";
  paid.payload = "42";
  Event seen;
  seen.id = *EventId::parse("20212223-2425-4627-a829-2a2b2c2d2e2f");
  seen.type = "Seen";
  seen.tags = {"b"};
  Append append;
  append.events = {placed, paid, seen};
  append.request_id = *EventId::parse("f0f1f2f3-f4f5-46f7-88f9-fafbfcfdfeff");
  append.command = CommandRecord{{"order", "1"}, "pay", "ok"};
  return append;
}

// Where the examples lie, and of what.
inline constexpr ShardId shard{7};
inline constexpr ShardOffset first{1'000};
inline const AggregateId order_1{"order", "1"};

inline std::string example_record() { return record_of(encode_example(example_append()), shard, first); }

}  // namespace evershard::storage
