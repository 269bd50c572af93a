// Records: the journal's values. One record a shard and commit, split at some kilobytes; each event with a checksum.
//
// Source: docs/internals/on-disk-format.md, "Journal".

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/encoded_append.hpp"
#include "evershard/storage/journal/location.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {

/// Builds one record. The checksum of an event binds its bytes, its state, its seq_nr and its place (shard, offset).
class RecordBuilder {
 public:
  /// Shape: events in order of offset, without a gap from `first`; at most 65,535, and under 4 GiB.
  void begin(ShardId shard, ShardOffset first);
  void add(std::string_view body, std::uint64_t body_hash, SeqNr seq_nr, EventState state = EventState::live);
  [[nodiscard]] std::size_t events() const;
  [[nodiscard]] std::size_t bytes() const;
  /// The record's bytes, until the next begin(). Shape: there is an event.
  [[nodiscard]] std::string_view finish();

 private:
  ShardId shard_;
  ShardOffset first_;
  std::vector<std::uint32_t> ends_;
  std::string events_;
  std::string record_;
};

/// One event of a record, as views into the record's bytes; its checksum was verified.
struct EventView {
  EventState state = EventState::live;
  SeqNr seq_nr;
  EventId id;
  std::string_view aggregate_type;  ///< empty: no aggregate
  std::string_view aggregate_value;
  std::string_view type;
  std::string_view payload;
  std::optional<std::string_view> metadata;
  PayloadFormat format = PayloadFormat::unspecified;
  Timestamp occurred_at;
  std::uint32_t index = 0;                     ///< in its append
  std::uint32_t count = 0;                     ///< of its append
  std::optional<RequestId> request;            ///< index 0 only; absent: the event's id
  std::optional<std::uint64_t> content_hash;   ///< index 0 only
  std::optional<std::string_view> command_id;  ///< on the first event of the command's aggregate
  std::string_view reply;
  std::string_view tags_bytes;  ///< encoded; see for_each_tag
  std::string_view also_bytes;  ///< encoded; see for_each_also
};

/// What is left of it once it is removed: id, aggregate, seq_nr, index and count, request and content hash, the
/// command's record.
void make_removed(EventView& event);

/// Calls `f(std::string_view tag)`, in the order stored.
template <class F>
void for_each_tag(const EventView& event, F f) {
  for (ByteReader reader(event.tags_bytes); reader.left() > 0;) {
    const std::string_view tag = reader.bytes(reader.fixed<std::uint8_t>());
    if (reader.ok()) f(tag);
  }
}

/// Calls `f(std::string_view type, std::string_view value)`, in the order stored.
template <class F>
void for_each_also(const EventView& event, F f) {
  for (ByteReader reader(event.also_bytes); reader.left() > 0;) {
    const std::string_view type = reader.bytes(reader.fixed<std::uint8_t>());
    const std::string_view value = reader.bytes(reader.varint());
    if (reader.ok()) f(type, value);
  }
}

/// One event's bytes as a record has them. Verifies the checksum. Errors: corruption, naming shard and offset
[[nodiscard]] Result<EventView> event_of(std::string_view bytes, ShardId shard, ShardOffset offset);

/// A record's bytes, looked into by index in constant time. Borrows them.
class RecordView {
 public:
  /// Errors: corruption, naming shard and offset
  static Result<RecordView> open(std::string_view bytes, ShardId shard, ShardOffset first);
  [[nodiscard]] std::size_t size() const;
  /// Verifies the checksum first. Errors: corruption, naming shard and offset
  [[nodiscard]] Result<EventView> event(std::size_t index) const;
  [[nodiscard]] ShardOffset first() const { return first_; }
  /// Of the event, for event_of(): checksum, state, seq_nr, body. Errors: corruption, naming shard and offset
  [[nodiscard]] Result<std::string_view> bytes_of(std::size_t index) const;

  /// An event as it is stored, for who writes it into another record.
  struct Stored {
    std::uint64_t body_hash;
    SeqNr seq_nr;
    EventState state;
    std::string_view body;
  };
  /// Verifies the checksum. Errors: corruption, naming shard and offset
  [[nodiscard]] Result<Stored> stored(std::size_t index) const;

 private:
  friend Result<std::string> with_stubs(std::string_view record, ShardId shard, ShardOffset first,
                                        const std::vector<std::pair<std::uint16_t, EventState>>& stubs);
  friend Result<std::string> some_events(std::string_view record, ShardId shard, ShardOffset first, std::size_t from,
                                         std::size_t until);
  RecordView() = default;
  [[nodiscard]] Refused corrupt(std::size_t index, std::string_view why) const;

  std::string_view bytes_;
  ShardId shard_;
  ShardOffset first_;
  std::uint32_t count_ = 0;
};

/// The value a reader hands out.
RecordedEvent to_event(const EventView& view, GlobalPosition position, const EventLocation& location);
/// The same, not built: views into the same bytes. `to` may have been another event's.
void to_view(const EventView& view, GlobalPosition position, const EventLocation& location, RecordedView& to);

/// The same record with some events replaced by stubs, given as (index, state).
///
/// Shape:  `removed` keeps id, aggregate, seq_nr, index and count, request id, content hash and the command with its
///         reply: the order, and what tells and answers a retry. `erased` keeps everything but the payload. What is
///         removed stays so; `live` changes nothing.
/// Errors: corruption, also of an index that is not there: indexes come from rows that can be damaged
Result<std::string> with_stubs(std::string_view record, ShardId shard, ShardOffset first,
                               const std::vector<std::pair<std::uint16_t, EventState>>& stubs);

/// The record as it would be had it ended behind its first `events` events, byte by byte.
///
/// Shape:  from 1 to as many as it has.
/// Errors: corruption, of the record or of one of these events
Result<std::string> first_events(std::string_view record, ShardId shard, ShardOffset first, std::size_t events);

/// A record of what is behind its first `events` events, as it would be had it begun there, byte by byte.
///
/// Shape:  from 0 to one less than it has.
/// Errors: corruption, of the record or of one of these events
Result<std::string> last_events(std::string_view record, ShardId shard, ShardOffset first, std::size_t events);

}  // namespace evershard::storage
