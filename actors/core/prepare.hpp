// Preparer: what is done for an append in the caller's thread, before its turn: checks, ids, bytes, look-ups.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "evershard/actors/core/prepared.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::actors {

/// Any number of threads at once; reads the store, changes nothing.
class Preparer {
 public:
  /// `elsewhere`: of a node of a cluster, which shards are other nodes' now: what lies there is not looked for here.
  /// `keeps_all`: of such a node, whether all shards of the store can be read here.
  /// Any thread. `takes_sealed`: who calls has keys, and has seen to it that what looks sealed opens.
  Preparer(const storage::Store& store, const Limits& limits, bool takes_sealed = false,
           std::function<bool(ShardId)> elsewhere = {}, std::function<bool()> keeps_all = {});

  /// Checks, names, encodes and looks up.
  ///
  /// Returns: the answer, if the request is stored already; nothing, if it has to be decided: see `prepared`. Of
  ///          aggregates that lie elsewhere the answer has version 0. An append whose first event lies elsewhere is
  ///          not looked for: whoever decides it has to ask again, see Prepared::elsewhere.
  /// Errors:  what check(Append) says; duplicate_event: some of its ids are stored, or all of them by another request,
  ///          or its command is; corruption, io
  [[nodiscard]] Result<std::optional<Appended>> prepare(Append&& append, Prepared& prepared) const;

  /// Looks up again, as of now, what the append needs: heads, ids, conditions. `confirm`: runs every condition as a
  /// query, also where memory covers it.
  ///
  /// Returns, Errors: as prepare().
  [[nodiscard]] Result<std::optional<Appended>> look_up(Prepared& prepared, bool confirm) const;

  /// What the writer of one shard of an append that writes to several has to know: everything anew, as of now.
  ///
  /// Returns: whether one of the ids of these events is stored here.
  /// Errors:  duplicate_event: its command is; corruption, io
  [[nodiscard]] Result<bool> look_up_part(Prepared& prepared) const;

  /// The newest version of an aggregate that is ordered; 0: none. Errors: corruption, io
  [[nodiscard]] Result<SeqNr> version_of(const AggregateId& aggregate) const;

  /// Where a snapshot written alone stands: the position of the event that made its version.
  /// Errors: invalid_argument, too_large; not_found: the aggregate has no such version; corruption, io
  [[nodiscard]] Result<GlobalPosition> place_of(const Snapshot& snapshot) const;

  /// From where on the decision remembers what could match a condition: before it, a query is needed.
  void window_begins(GlobalPosition from) { window_from_.store(from.value, std::memory_order_relaxed); }

 private:
  using Known = std::vector<std::optional<storage::FoundEvent>>;

  [[nodiscard]] Result<void> check_sealing(const Append& append) const;
  template <class Written>  // Event, Snapshot
  [[nodiscard]] Result<void> check_sealing(const Written& written) const;
  void expect(std::vector<Expectation> expectations, std::uint32_t shards, Prepared& prepared) const;
  [[nodiscard]] Result<std::optional<Appended>> find_request(const storage::View& view, Prepared& prepared) const;
  [[nodiscard]] Result<void> find_command(const storage::View& view, const Prepared& prepared) const;
  [[nodiscard]] Result<bool> knows_any(const storage::View& view, const Prepared& prepared) const;
  [[nodiscard]] Result<std::optional<Appended>> find_by_request(storage::Reader::Names& names, const Prepared& prepared,
                                                                std::optional<storage::FoundEvent> first) const;
  [[nodiscard]] Result<bool> is_same(const Prepared& prepared, const Known& known) const;
  [[nodiscard]] Result<Appended> answer_again(const Prepared& prepared, const Known& known) const;
  [[nodiscard]] Result<void> find_heads(const storage::View& view, Prepared& prepared) const;
  [[nodiscard]] Result<void> find_matches(const storage::View& view, Prepared& prepared, bool confirm) const;

  const storage::Store& store_;
  const storage::Reader reader_;
  const sharding::TermHasher hasher_;
  const Limits limits_;
  const bool takes_sealed_;
  const std::function<bool(ShardId)> elsewhere_;
  const std::function<bool()> keeps_all_;
  std::atomic<std::uint64_t> window_from_;  ///< may lag behind: the decision sends back what it cannot judge
};

}  // namespace evershard::actors
