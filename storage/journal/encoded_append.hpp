// EncodedAppend: an append with all its bytes made, but for what only the decision knows: seq_nrs, offsets, positions.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/sharding/term_hash.hpp"

namespace evershard::storage {

struct EncodedAggregate {
  AggregateId id;
  std::string text;
  sharding::Term stream = 0;  ///< TermHasher::aggregate(text)
  ShardId shard;
};

struct EncodedEvent {
  static constexpr std::uint32_t no_aggregate = std::numeric_limits<std::uint32_t>::max();

  EventId id;
  bool id_given = false;  ///< by the caller; ids the store made are never looked up
  ShardId shard;
  std::uint32_t aggregate = no_aggregate;  ///< in EncodedAppend::aggregates
  /// In EncodedAppend::terms: type first, then tags and `also`, each term once; then the own aggregate's, if there is
  /// one.
  std::uint32_t terms_begin = 0;
  std::uint32_t terms_end = 0;
  std::uint32_t body_begin = 0;  ///< in EncodedAppend::bodies
  std::uint32_t body_end = 0;
  std::uint64_t body_hash = 0;
  EventState state = EventState::live;  ///< of what comes from another store
};

struct EncodedSnapshot {
  std::uint32_t aggregate = 0;  ///< in EncodedAppend::aggregates
  Snapshot snapshot;
};

/// Made by prepare, in the caller's thread; immutable afterwards.
struct EncodedAppend {
  RequestId request;               ///< given, or the first event's id
  std::uint64_t content_hash = 0;  ///< over the events as given, in order: tells a retry from another request
  std::vector<EncodedEvent> events;
  std::vector<EncodedAggregate> aggregates;  ///< in order of first event
  std::vector<sharding::Term> terms;
  std::string bodies;
  std::vector<EncodedSnapshot> snapshots;
  /// Key of the request in `ids`; all zero: it is its first event's id, or no request id was given.
  EventId request_key;
  EventId command;                  ///< key of the command record in `ids`; all zero: none
  std::uint32_t command_event = 0;  ///< the event that carries it: the first one of the command's aggregate
  Timestamp appended_at;

  [[nodiscard]] std::span<const sharding::Term> terms_of(const EncodedEvent& event) const {
    return std::span(terms).subspan(event.terms_begin, event.terms_end - event.terms_begin);
  }
  /// The key under which `ids` leads to this event as a command's record; all zero: none.
  [[nodiscard]] EventId command_of(std::size_t event) const { return event == command_event ? command : EventId{}; }
  /// The key under which `ids` leads to this event as its request's first; all zero: none.
  [[nodiscard]] EventId request_of(std::size_t event) const { return event == 0 ? request_key : EventId{}; }
  [[nodiscard]] std::string_view body_of(const EncodedEvent& event) const {
    return std::string_view(bodies).substr(event.body_begin, event.body_end - event.body_begin);
  }
};

/// The key under which a command's record is found: 16 bytes of XXH128 over aggregate and command id.
EventId command_key(const AggregateId& aggregate, std::string_view command_id);

/// The key under which a request is found whose first event has an id of its own: the id that this event would have
/// without, so that a request is found whether ids were given or not. All zero: it is this id.
EventId request_key(const RequestId& request, const EventId& first);

/// Shape: checked and normalised (protocol/validate); every event has an id; `ids_given[i]`: the caller's.
/// Source: docs/internals/on-disk-format.md, "Journal".
EncodedAppend encode_append(Append&& append, std::span<const bool> ids_given, std::uint32_t shard_count,
                            const sharding::TermHasher& hasher, Timestamp now);

}  // namespace evershard::storage
