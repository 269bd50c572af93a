// OrderedModel: the naive order, a list of events, and what look-ups and invariants say of it.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evershard/actors/core/attempt.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/journal/journal_append.hpp"

namespace evershard::actors {

struct OrderedEvent {
  RequestId request;
  std::uint32_t index = 0;  ///< in its append
  std::uint64_t content_hash = 0;
  Event event;
  SeqNr seq_nr;
  ShardId shard;
  ShardOffset offset;
};

class OrderedModel {
 public:
  OrderedModel(std::uint32_t shards, std::uint64_t term_mask) : shards_(shards), hasher_(7, term_mask) {}

  /// Names, encodes and remembers the append; not looked up yet. `named`: its events have ids that follow from its
  /// request's.
  std::shared_ptr<Attempt> attempt(std::uint64_t client, Append append, bool named = true);
  /// What the owner of another shard makes of a part.
  [[nodiscard]] std::shared_ptr<Attempt> part(std::uint64_t client, const Attempt& of, const PartAsked& asked) const;
  /// As Preparer::look_up, over the order up to `w`.
  Result<std::optional<Appended>> look_up(Attempt& attempt, GlobalPosition w, bool confirm,
                                          GlobalPosition window_from) const;

  /// The next position is that of this event. Returns: what is wrong (I-Version, I-Together, I-Atomic, I-Once,
  /// I-Condition).
  [[nodiscard]] std::string add(const storage::EncodedAppend& append, const storage::JournalPlace& place,
                                std::uint32_t event);
  /// The cut is at its end. Returns: what is wrong.
  [[nodiscard]] std::string cut_ends() const { return under_way_ == 0 ? "" : "I-Atomic: a cut ends within an append"; }

  [[nodiscard]] const std::vector<OrderedEvent>& events() const { return events_; }
  [[nodiscard]] GlobalPosition last() const { return GlobalPosition{events_.size()}; }
  [[nodiscard]] SeqNr version(const AggregateId& aggregate, GlobalPosition up_to) const;
  [[nodiscard]] std::optional<GlobalPosition> first_match(const Query& query, GlobalPosition after,
                                                          GlobalPosition up_to) const;
  [[nodiscard]] std::optional<Appended> find(const RequestId& request, GlobalPosition up_to) const;
  [[nodiscard]] const Append& original(const RequestId& request) const { return originals_.at(request); }
  [[nodiscard]] std::uint32_t shards() const { return shards_; }

 private:
  std::uint32_t shards_;
  sharding::TermHasher hasher_;
  std::vector<OrderedEvent> events_;
  std::map<RequestId, Append> originals_;
  std::set<EventId> ids_;  ///< of the events that stand there
  std::uint32_t unnamed_ = 0;
  std::uint32_t under_way_ = 0;  ///< events of the last append that are still to come
};

/// An aggregate that lies on the shard; the n-th such.
std::string aggregate_on(std::uint32_t shard, std::uint32_t shards, int n = 0);

}  // namespace evershard::actors
