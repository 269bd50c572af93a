// Lanes: who may be decided on an aggregate, and what was decided and is not ordered yet.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "evershard/actors/core/attempt.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/term_hash.hpp"

namespace evershard::actors {

struct Written;

/// One aggregate with something undecided, unordered or waiting.
class Lane {
 public:
  SeqNr version;                       ///< after the last append written; means something while there is one
  std::uint64_t writer = 0;            ///< of that append's chain
  std::uint32_t unordered = 0;         ///< appends written and covered by no cut
  Written* last = nullptr;             ///< of those
  const Attempt* undecided = nullptr;  ///< the last tentative append that writes to it (rule 15)
  bool builds = false;                 ///< others may be written on top of what is undecided, to be refused with it

  [[nodiscard]] bool idle() const { return unordered == 0 && undecided == nullptr && queue.empty(); }

 private:
  friend class Lanes;
  struct Entry {
    std::uint64_t number;
    std::shared_ptr<Attempt> attempt;
    bool writes;
  };
  std::vector<Entry> queue;  ///< by arrival
  ShardId shard;
  sharding::Term stream = 0;
  std::string text;
};

/// First come, first served, over all aggregates of an append. Whoever only expects a version does not make others wait
/// once he is written. Nobody waits in a lane for another shard or node, and everybody by arrival: so nobody waits for
/// ever.
class Lanes {
 public:
  /// The lane of one aggregate; nullptr: nothing is known of the aggregate here.
  [[nodiscard]] const Lane* of(sharding::Term stream, std::string_view text) const;
  /// Fills attempt.lanes with those of its aggregates that lie on attempt.shards.
  void find(Attempt& attempt);
  /// Nothing undecided, and nobody who came earlier, is in its way. `may_build`: nor is what others may build on.
  [[nodiscard]] bool free(const Attempt& attempt, bool may_build = false) const;
  /// How many wait in the longest of its lanes.
  [[nodiscard]] static std::size_t waiting(const Attempt& attempt);
  /// It keeps its place by arrival until leave().
  void queue(const std::shared_ptr<Attempt>& attempt);
  /// Gives up its places; who may come next goes to `next`.
  void leave(Attempt& attempt, std::vector<std::shared_ptr<Attempt>>& next);
  /// Who waits at the head of a lane. Shape: asked when it was set free, or may be built on.
  static void heads(const Lane& lane, std::vector<std::shared_ptr<Attempt>>& next);
  /// Forgets the lane if nothing is left to know of it.
  void tidy(Lane* lane);
  [[nodiscard]] bool empty() const { return lanes_.empty(); }

 private:
  Lane& lane(const storage::EncodedAggregate& aggregate);

  std::unordered_multimap<sharding::Term, std::unique_ptr<Lane>>
      lanes_;  ///< by stream; the text tells those of one hash apart
};

}  // namespace evershard::actors
