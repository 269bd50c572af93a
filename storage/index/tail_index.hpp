// TailIndex: the newest events' index entries, in memory. One writer; readers without a lock.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "evershard/protocol/event_id.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/arena.hpp"
#include "evershard/storage/index/position_list.hpp"
#include "evershard/storage/index/stable_array.hpp"
#include "evershard/storage/index/tail_table.hpp"
#include "evershard/storage/journal/chunks.hpp"
#include "evershard/storage/journal/location.hpp"

namespace evershard::storage {

/// One event's entries.
struct TailEvent {
  GlobalPosition position;  ///< the next one
  EventLocation location;
  EventId id;
  EventId command{};                      ///< its key in `ids`; all zero: none
  EventId request{};                      ///< the same of the request that it is the first event of
  std::span<const sharding::Term> terms;  ///< type first; without the own aggregate's
  sharding::Term stream = 0;              ///< 0: no aggregate
  std::string_view aggregate_text;
  SeqNr seq_nr;
};

/// Positions [first, ...), dense. Entries are sorted by construction, since positions come in order.
///
/// Owner: one thread adds. Readers see whatever was published to them by way of the watermark (release, acquire) and
/// stop at their view's: what lies above it may be there or not.
/// Cost:  about 0.4 us an event with four terms; about 150 bytes an event.
class TailIndex {
 public:
  explicit TailIndex(GlobalPosition first, std::size_t events_hint = 262'144);
  TailIndex(const TailIndex&) = delete;
  TailIndex& operator=(const TailIndex&) = delete;

  /// Shape: the position is next(); an aggregate's seq_nrs follow each other.
  /// Cost: cheaper an event the more there are, since they wait for memory together.
  void add(std::span<const TailEvent> events);
  void add(const TailEvent& event) { add(std::span(&event, 1)); }
  /// The next positions are events of other nodes: no index leads to them.
  void skip(std::uint64_t positions);
  [[nodiscard]] GlobalPosition first() const { return first_; }
  [[nodiscard]] GlobalPosition next() const { return first_ + events(); }  ///< writer's side: behind the last one added
  [[nodiscard]] std::size_t events() const { return places_.size(); }      ///< any thread
  [[nodiscard]] std::size_t bytes() const;                                 ///< any thread

  // For readers. Events are named by their number in this tail: position - first().

  struct Place {
    ShardOffset record;
    sharding::Term type;
    std::uint32_t stream;  ///< number + 1; 0: no aggregate
    ShardId shard;
    std::uint16_t index;

    [[nodiscard]] EventLocation location() const { return {shard, record, index}; }
    [[nodiscard]] bool is_elsewhere() const { return record.value == 0; }  ///< of another node
  };
  struct TermEntry {
    sharding::Term term;
    PositionList events{};
  };
  /// One aggregate's: two with the same hash have one each.
  struct StreamEntries {
    sharding::Term term;
    std::string_view aggregate_text;
    SeqNr first_seq_nr;
    PositionList events{};
  };
  /// A command, or a request, that leads to an event.
  struct KeyEntry {
    EventId key;
    std::uint32_t event;
    IdKind kind;
  };

  [[nodiscard]] const Place& place(std::uint32_t event) const { return places_[event]; }
  [[nodiscard]] const EventId& id(std::uint32_t event) const { return ids_[event]; }
  [[nodiscard]] Posting posting(std::uint32_t event) const {
    const Place& place = places_[event];
    return {first_ + event, place.location(), place.type};
  }

  /// nullptr: none.
  [[nodiscard]] const PositionList* find_term(sharding::Term term) const;
  [[nodiscard]] const StreamEntries* find_stream(sharding::Term term, std::string_view aggregate_text) const;
  [[nodiscard]] std::optional<std::uint32_t> find_id(const EventId& id, ShardId shard) const;
  /// An event's id, or a request's key, on whatever shard; where it is on several, on this one if it is there.
  [[nodiscard]] std::optional<std::uint32_t> find_named(const EventId& id, ShardId near) const;
  [[nodiscard]] std::optional<std::uint32_t> find_command(const EventId& key) const;

  // For those who go through all of it: listing and sealing. Tables by the top byte of their key.
  [[nodiscard]] const TailTable& term_table() const { return term_table_; }
  [[nodiscard]] const TailTable& stream_table() const { return stream_table_; }
  [[nodiscard]] const StableArray<TermEntry>& terms() const { return terms_; }
  [[nodiscard]] const StableArray<StreamEntries>& streams() const { return streams_; }
  [[nodiscard]] const StableArray<KeyEntry>& keys() const { return keys_; }

 private:
  void prefetch_slots(const TailEvent& event) const;
  void prefetch_entries(const TailEvent& event) const;
  void prefetch_ends(const TailEvent& event) const;
  void insert(const TailEvent& event);
  std::uint32_t find_term_number(sharding::Term term) const;
  std::uint32_t find_stream_number(sharding::Term term, std::string_view aggregate_text) const;
  std::uint32_t add_stream(const TailEvent& event);
  [[nodiscard]] std::optional<std::uint32_t> find_key(const EventId& key, IdKind kind) const;
  void add_key(const EventId& key, std::uint32_t event, IdKind kind);

  GlobalPosition first_;
  Arena arena_;
  StableArray<Place> places_;
  StableArray<EventId> ids_;
  StableArray<TermEntry> terms_;
  StableArray<StreamEntries> streams_;
  StableArray<KeyEntry> keys_;
  TailTable term_table_;
  TailTable stream_table_;
  TailTable id_table_;
  TailTable key_table_;
};

}  // namespace evershard::storage
