// Events: what a caller gives, and what the store gives back.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

/// How to read the payload's bytes; the store itself never looks into them. From 1000 on the user's.
enum class PayloadFormat : std::uint32_t {
  unspecified = 0,
  json = 1,
  protobuf = 2,
  text = 3,
  encrypted = 4,
  user = 1000
};

/// An opaque non-empty string, by convention `key:value`. At most 255 bytes of UTF-8 without NUL.
using Tag = std::string;

/// Of what is absent: none.
template <class Bytes>
[[nodiscard]] std::string_view bytes_if(const std::optional<Bytes>& given) {
  return given ? std::string_view(*given) : std::string_view();
}

/// Whether an event's content can still be read.
enum class EventState : std::uint8_t {
  live = 0,
  removed = 1,  ///< truncated or removed with its aggregate: id, aggregate, seq_nr and place are kept
  erased = 2,   ///< its payload's key is gone: everything but the payload is kept
};

/// An event as given to an append.
struct Event {
  EventId id;                            ///< all zero: the store makes one
  std::optional<AggregateId> aggregate;  ///< absent: a tagged event without an aggregate
  std::string type;
  std::vector<Tag> tags;          ///< a set: stored sorted, each once
  std::vector<AggregateId> also;  ///< further aggregates it concerns; a set
  std::string payload;
  PayloadFormat format = PayloadFormat::unspecified;
  std::optional<std::string> metadata;   ///< absent: none, which is not the same as empty
  std::optional<Timestamp> occurred_at;  ///< absent: set at append
  std::string subject{};  ///< whose data the payload is: it is sealed under that subject's key, which can be destroyed.
                          ///< Empty: nobody's
  /// Of what comes from another store (Append::from_export): what it has no more. `removed`: only id and aggregate are
  /// given; `erased`: everything but the payload.
  EventState state = EventState::live;

  /// Of none: none.
  [[nodiscard]] std::string_view metadata_bytes() const { return bytes_if(metadata); }
  friend bool operator==(const Event&, const Event&) = default;
};

/// An event as stored: with its place in its stream, its shard and the global order.
struct RecordedEvent {
  GlobalPosition position;
  ShardId shard;
  ShardOffset offset;
  EventId id;
  std::optional<AggregateId> aggregate;
  SeqNr seq_nr;  ///< 0 without an aggregate
  std::string type;
  std::vector<Tag> tags;
  std::vector<AggregateId> also;
  std::string payload;
  PayloadFormat format = PayloadFormat::unspecified;
  std::optional<std::string> metadata;  ///< absent: none, which is not the same as empty
  Timestamp occurred_at;
  EventState state = EventState::live;
  std::uint32_t append_index = 0;   ///< its number in its append, from 0
  std::uint32_t append_events = 1;  ///< how many events its append has: they stand at consecutive positions
  std::string subject{};            ///< of a sealed payload that was opened: whose data it is

  /// Of none: none.
  [[nodiscard]] std::string_view metadata_bytes() const { return bytes_if(metadata); }
  friend bool operator==(const RecordedEvent&, const RecordedEvent&) = default;
};

}  // namespace evershard
