// Records: the journal's values. One record a shard and commit, split at some kilobytes; each event with a checksum.
//
// Source: docs/on-disk-format.md, "Journal".

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/encoded_append.hpp"
#include "evershard/storage/location.hpp"

namespace evershard::storage {

/// Builds one record. The checksum of an event binds its bytes, its state, its seq_nr and its place (shard, offset).
class RecordBuilder {
 public:
  /// Shape: events in order of offset, without a gap from `first`.
  void begin(ShardId shard, ShardOffset first);
  void add(std::string_view body, std::uint64_t body_hash, SeqNr seq_nr, EventState state = EventState::live);
  [[nodiscard]] std::size_t events() const;
  [[nodiscard]] std::size_t bytes() const;
  /// The record's bytes, until the next begin().
  [[nodiscard]] std::string_view finish();

 private:
  ShardId shard_;
  ShardOffset first_;
  std::string ends_;
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
  std::string_view metadata;
  PayloadFormat format = PayloadFormat::unspecified;
  Timestamp occurred_at;
  std::uint32_t index = 0;  ///< in its append
  std::uint32_t count = 0;  ///< of its append
  std::optional<RequestId> request;            ///< index 0 only; absent: the event's id
  std::optional<std::uint64_t> content_hash;  ///< index 0 only
  std::optional<std::string_view> command_id;  ///< index 0 only
  std::string_view reply;
  std::string_view tags_bytes;  ///< encoded; see for_each_tag
  std::string_view also_bytes;
};

/// A record's bytes, looked into by index in constant time. Borrows them.
class RecordView {
 public:
  /// Errors: corruption, naming shard and offset
  static Result<RecordView> open(std::string_view bytes, ShardId shard, ShardOffset first);
  [[nodiscard]] std::size_t size() const;
  /// Verifies the checksum first. Errors: corruption, naming shard and offset
  [[nodiscard]] Result<EventView> event(std::size_t index) const;
  [[nodiscard]] ShardOffset first() const { return first_; }

 private:
  std::string_view bytes_;
  ShardId shard_;
  ShardOffset first_;
  std::uint32_t count_ = 0;
};

/// The value a reader hands out.
RecordedEvent to_event(const EventView& view, GlobalPosition position, const EventLocation& location);

/// The same record with some events replaced by stubs: id, aggregate, seq_nr, append boundaries and order are kept
/// (removed), or everything but the payload (erased). Errors: corruption
Result<std::string> with_stubs(std::string_view record, ShardId shard, ShardOffset first,
                               const std::vector<std::pair<std::uint16_t, EventState>>& stubs);

/// A snapshot's row. Its checksum covers aggregate, version, revision and payload.
std::string encode_snapshot(const Snapshot& snapshot, GlobalPosition position, Timestamp taken_at);
/// Errors: corruption
Result<RecordedSnapshot> decode_snapshot(std::string_view bytes, const AggregateId& aggregate);

}  // namespace evershard::storage
