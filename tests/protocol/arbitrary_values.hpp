// Random values of the vocabulary, for property tests: every part present and absent, every enumerator, any bytes.

#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::arbitrary {

/// UTF-8 of up to 48 bytes: short enough for every part of an id.
inline std::string text(const std::string& without = "") {
  static const std::vector<std::string> pieces{"a",  "B",    "7",        "-", ":",  " ",    "|",
                                               "\n", "\x7f", "\xc2\x80", "ü", "注", "🛒", "\xf4\x8f\xbf\xbf"};
  std::string text;
  for (const auto index : *rc::gen::container<std::vector<std::size_t>>(
           static_cast<std::size_t>(*rc::gen::inRange(0, 13)), rc::gen::inRange<std::size_t>(0, pieces.size()))) {
    if (pieces[index] != without) text += pieces[index];
  }
  return text;
}
inline std::string bytes() { return *rc::gen::arbitrary<std::string>(); }
inline bool maybe() { return *rc::gen::arbitrary<bool>(); }
/// Small and large ones, up to the last bit.
inline std::uint64_t number() { return *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64); }

template <class Make>
auto optional(Make make) -> std::optional<decltype(make())> {
  if (maybe()) return make();
  return std::nullopt;
}
template <class Make>
auto several(Make make) -> std::vector<decltype(make())> {
  std::vector<decltype(make())> values(*rc::gen::inRange<std::size_t>(0, 4));
  for (auto& value : values) value = make();
  return values;
}
template <class Enum>
Enum up_to(Enum last) {
  return static_cast<Enum>(*rc::gen::inRange(0, static_cast<int>(last) + 1));
}

inline AggregateId aggregate() { return {"t" + text("-"), "v" + text()}; }
inline EventId id() { return maybe() ? EventId{} : EventId{*rc::gen::arbitrary<std::array<std::uint8_t, 16>>()}; }
inline PayloadFormat format() { return PayloadFormat{static_cast<std::uint32_t>(number())}; }
inline Timestamp time() { return {static_cast<std::int64_t>(number())}; }
inline GlobalPosition position() { return GlobalPosition{number()}; }
inline SeqNr seq_nr() { return SeqNr{number()}; }
inline ShardId shard() { return ShardId{static_cast<std::uint16_t>(number())}; }
inline std::string string() { return text(); }

inline Event event() {
  return {.id = id(),
          .aggregate = optional(aggregate),
          .type = text(),
          .tags = several(string),
          .also = several(aggregate),
          .payload = bytes(),
          .format = format(),
          .metadata = bytes(),
          .occurred_at = optional(time),
          .subject = text()};
}

inline RecordedEvent recorded_event() {
  return {.position = position(),
          .shard = shard(),
          .offset = ShardOffset{number()},
          .id = id(),
          .aggregate = optional(aggregate),
          .seq_nr = seq_nr(),
          .type = text(),
          .tags = several(string),
          .also = several(aggregate),
          .payload = bytes(),
          .format = format(),
          .metadata = bytes(),
          .occurred_at = time(),
          .state = up_to(EventState::erased),
          .subject = text()};
}

inline QueryItem query_item() { return {several(string), several(string), several(aggregate)}; }
inline Query query() { return maybe() ? Query::all() : Query::of(several(query_item)); }

inline ExpectedVersion expected_version() {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return Version::any();
    case 1:
      return Version::none();
    case 2:
      return Version::exists();
    default:
      return Version::exactly(number());
  }
}

inline Snapshot snapshot() {
  return {.aggregate = aggregate(),
          .version = seq_nr(),
          .payload = bytes(),
          .format = format(),
          .schema_revision = static_cast<std::uint32_t>(number()),
          .keep = optional([] { return static_cast<std::uint32_t>(number()); }),
          .ttl = optional([] { return std::chrono::seconds(static_cast<std::int64_t>(number())); })};
}

inline RecordedSnapshot recorded_snapshot() {
  return {.aggregate = aggregate(),
          .version = seq_nr(),
          .position = position(),
          .payload = bytes(),
          .format = format(),
          .schema_revision = static_cast<std::uint32_t>(number()),
          .taken_at = time(),
          .expires_at = optional(time),
          .latest = maybe()};
}

inline Append append() {
  Append append;
  append.request_id = optional([] { return RequestId{*rc::gen::arbitrary<std::array<std::uint8_t, 16>>()}; });
  if (append.request_id && !append.request_id->given()) append.request_id.reset();
  append.events = several(event);
  append.expectations = several([] { return Expectation{aggregate(), expected_version()}; });
  append.conditions = several([] { return AppendCondition{query(), position()}; });
  append.snapshots = several(snapshot);
  append.command = optional([] { return CommandRecord{aggregate(), bytes(), bytes()}; });
  append.ack = up_to(Ack::durable);
  return append;
}

inline Appended appended() {
  return {position(), position(), several([] { return AggregateVersion{aggregate(), seq_nr()}; }), maybe()};
}

inline Error error() {
  const auto code = static_cast<ErrorCode>(*rc::gen::inRange(1, static_cast<int>(ErrorCode::permission_denied) + 1));
  if (maybe()) return {code, text()};
  return {code, text(),
          ErrorDetails{.aggregate = optional(aggregate),
                       .expected = optional(expected_version),
                       .actual = optional(seq_nr),
                       .condition = optional([] { return static_cast<std::uint32_t>(number()); }),
                       .position = optional(position),
                       .shard = optional(shard),
                       .offset = optional([] { return ShardOffset{number()}; })}};
}

inline ReadOptions read_options() {
  return {.after = position(),
          .before = optional(position),
          .up_to = optional(position),
          .limit = optional(number),
          .direction = up_to(Direction::backwards),
          .at_least = optional(position),
          .per_aggregate = optional(number),
          .per_aggregate_from = optional(position)};
}

inline StreamOptions stream_options() {
  return {.from = optional(seq_nr),
          .limit = optional(number),
          .direction = up_to(Direction::backwards),
          .up_to = optional(position)};
}

inline Page page() { return {several(recorded_event), position(), maybe()}; }

}  // namespace evershard::arbitrary
