// Reports: what is durable of the shards and no cut covers yet, and the sequence in which the next cut takes it.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/cut_builder.hpp"
#include "evershard/sharding/term_hash.hpp"

namespace evershard::sharding {

/// A part of an append over several shards: which append, and its events in order.
struct PartOf {
  EventId append;  ///< its name: the same in all parts and at every try, another append's never
  std::vector<std::pair<ShardId, std::uint32_t>>
      runs;  ///< (shard, event count) in the append's order, same in all parts
  friend bool operator==(const PartOf&, const PartOf&) = default;
};

/// An append as a shard reports it (cluster).
struct ReportedAppend {
  std::uint32_t events = 1;
  bool tentative = false;
  std::vector<TermCondition> conditions;  ///< of a part: the same in all parts but for `from`, or none
  std::vector<std::vector<Term>> terms;   ///< an entry an event; empty: reported without digests
  std::optional<PartOf> part;
  /// Of undecided appends of this shard whose versions it counts on: it is refused with any of them. Each offset is
  /// where one of them begins; 0: of one that was refused. Tentative.
  std::vector<ShardOffset> builds_on{};
};

/// What is durable of one shard, from `first` on (rule 9: whole appends only).
///
/// Without appends it asks for a cut to be made since: the next one, whatever there is to cut (rule 19).
struct Report {
  ShardId shard;
  Epoch epoch;
  ShardOffset first;
  std::vector<ReportedAppend> appends;
};

enum class Reported : std::uint8_t {
  taken,
  stale,      ///< of an older shard epoch, or nothing new
  gap,        ///< does not join on to what is known: ask again from `known_end(shard)`
  replaced,   ///< an append twice behind the last cut known, or a newer shard epoch: a newer coordinator leads (rule 4)
  malformed,  ///< contradicts itself or what is known: a broken node; nothing of it was taken
};

/// Reported appends per shard, in offset order; those over several shards also by append.
///
/// Cost:   a cut takes events + parts steps, and a walk over blocked appends for each crossing refused.
/// Source: docs/internals/ordering.md, rules 4 and 5, "Over several shards".
class Reports {
 public:
  /// Behind what the cuts cover.
  explicit Reports(const std::vector<OrderState::Shard>& shards);
  ~Reports();

  /// Rule 4. `epoch`: the shard's present one.
  Reported take(Report report, Epoch epoch);
  /// What was reported under older epochs is void; the shard goes on behind the cuts.
  void forget(ShardId shard, ShardOffset next);
  [[nodiscard]] ShardOffset end(ShardId shard) const { return shards_[shard.value].end; }
  /// Whether a cut has something to do: place, refuse, count a cut for what is held back, or answer who asked for one.
  [[nodiscard]] bool any() const { return !active_.empty() || cut_asked_; }
  /// Gives everything its place or its refusal, but for what is held back.
  void place(CutBuilder& builder, std::uint32_t cuts_held_max);

  /// So many refused appends of a shard are remembered by where they begin; of older ones nothing is known, and what
  /// builds on what is not known is refused.
  static constexpr std::size_t refused_max = 16'384;

 private:
  struct Several;
  struct Waiting {
    ReportedAppend append;
    ShardOffset first;
    Several* several = nullptr;
  };
  struct Shard {
    std::vector<Waiting> waiting;     ///< from `end` of the last cut, consecutive
    ShardOffset end;                  ///< the first offset not reported
    std::deque<ShardOffset> refused;  ///< by cuts of this coordinator, ascending: where tentative appends began
    ShardOffset forgotten;            ///< the newest that is remembered no more
    // While a cut is made:
    ShardOffset limit;            ///< the cut ends here
    std::size_t next = 0;         ///< of `waiting`: the first not emitted
    std::vector<Several*> queue;  ///< the parts below the limit that have all their siblings
    std::size_t head = 0;         ///< of `queue`
  };
  class Cutting;

  [[nodiscard]] std::optional<Reported> objection(const Report& report) const;
  [[nodiscard]] std::optional<Reported> objection(const ReportedAppend& append, ShardId shard) const;
  Several* join(const ReportedAppend& append, ShardId shard, ShardOffset first);
  void leave(Several& several, ShardId shard);

  std::vector<Shard> shards_;
  std::vector<ShardId> active_;  ///< those with something waiting
  std::unordered_map<EventId, std::unique_ptr<Several>> several_;
  bool cut_asked_ = false;
};

}  // namespace evershard::sharding
