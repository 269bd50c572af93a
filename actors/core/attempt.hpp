// Attempt: one request at the shard writers of a node in a cluster, from its arrival to its answer and its place.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "evershard/actors/core/prepared.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/reports.hpp"

namespace evershard::actors {

class Lane;

/// A node asks the owner of another shard to write that shard's part of an append.
/// Shape: of the append at least the events of that shard, and its command only if one of them carries it.
struct PartAsked {
  ShardId shard;
  sharding::PartOf part;
  std::uint64_t attempt = 0;  ///< Attempt::number at who asks: comes back with the answer
  std::uint32_t try_number = 0;
};

/// What the owner of another shard says of a part. There is one for every request, if only from the link that lost it.
struct PartAnswer {
  enum class Kind : std::uint8_t {
    written,  ///< durable, at `first`
    busy,     ///< it would wait for another tentative append
    known,    ///< its ids are known there: look the request up
    refused,  ///< for good, as far as the part goes: `error`
    lost,     ///< nobody took it, or its outcome is not known: `error`
  };
  std::uint64_t attempt = 0;
  std::uint32_t try_number = 0;
  ShardId shard{};
  Kind kind = Kind::busy;
  ShardOffset first{};
  std::vector<AggregateVersion> versions{};  ///< after it
  Error error{};
  GlobalPosition rests_on{};  ///< refused: ordered up to here
};

/// Whether two attempts are of one request: then they get one answer.
[[nodiscard]] inline bool same_request(const Prepared& a, const Prepared& b) {
  return a.append.request == b.append.request && a.append.content_hash == b.append.content_hash &&
         a.append.events.size() == b.append.events.size();
}

/// Shared between the writers, the journal batch that writes it, and whoever looks it up.
struct Attempt {
  // -- from the caller
  std::uint64_t client = 0;  ///< who gets the answer; 0: nobody
  Ack ack = Ack::ordered;
  /// While a look-up is under way its view, heads, terms and refusal are that one's. Of a part: events (of its shard at
  /// least), what is expected there.
  Prepared prepared;
  std::optional<PartAsked> asked;  ///< a part, for another node

  // -- of the writers
  enum class State : std::uint8_t {
    arrived,
    queued,     ///< in its lanes, until nobody undecided is before it
    looked_up,  ///< under way
    awaiting,   ///< a cut made since
    resting,    ///< its refusal rests on what is not ordered yet
    written,    ///< in the journal, or on its way there
    joined,     ///< to another attempt of the request
    done,
  };
  State state = State::arrived;
  std::uint64_t number = 0;        ///< by arrival
  std::uint32_t tries = 0;         ///< look-ups and second tries
  bool known = false;              ///< its ids lead others to it
  bool queued = false;             ///< in the queues of its lanes
  std::uint32_t cuts_off = 0;      ///< so many cuts it stays away, because another append's part was in its way
  bool cut_since = false;          ///< what is missing was confirmed by a cut made since
  bool on_decided = false;         ///< it waits until its aggregates have nothing undecided
  std::vector<ShardId> shards;     ///< those decided here, ascending
  std::vector<ShardId> elsewhere;  ///< of other nodes, ascending
  struct OnLane {
    Lane* lane = nullptr;
    std::uint32_t aggregate = 0;  ///< Prepared::aggregate
    bool writes = false;
  };
  std::vector<OnLane> lanes;
  std::vector<std::shared_ptr<Attempt>> joined;
  std::optional<Error> refusal;  ///< while resting

  // While written:
  std::uint32_t undecided = 0;  ///< parts here
  std::size_t bytes = 0;        ///< of all that, as long as it is undecided
  bool in_batch = false;        ///< of the batch that is still open: not on its way to the disk
  bool refused = false;         ///< a part was, by a cut
  bool base_refused = false;    ///< what it was built on was
  bool tentative = false;
  bool durable = false;                                 ///< all parts of the append that lie here
  bool replied = false;                                 ///< to who asked for the part
  std::vector<std::pair<ShardId, ShardOffset>> places;  ///< of its first event on each shard here
  GlobalPosition first_position;                        ///< once placed
  std::vector<SeqNr> versions;                          ///< of each aggregate, as far as known
  std::optional<sharding::PartOf> part;
  std::uint32_t unanswered = 0;      ///< parts elsewhere
  std::vector<PartAnswer> answered;  ///< of this try
};

}  // namespace evershard::actors
