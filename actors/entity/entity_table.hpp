// EntityTable: the live aggregates of one shard: found, loaded, given up.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "evershard/actors/entity/entity.hpp"
#include "evershard/actors/entity/idle_order.hpp"
#include "evershard/actors/entity/wake_heap.hpp"

namespace evershard::actors {

/// Routes what is asked to the entity, which it makes; what comes back, by the operation's name; and gives entities up
/// when they are idle for long or too many. A passive aggregate costs nothing.
///
/// Owner:  one thread at a time. timer() is due at wake_at().
/// Cost:   a live aggregate about 450 bytes beside its state and the bytes of its id.
class EntityTable {
 public:
  struct Options {
    std::size_t live_max = 6'250;  ///< idle ones beyond it are given up; busy ones never are
    std::chrono::milliseconds idle_after = std::chrono::seconds(60);  ///< 0: never
    std::size_t recent_ids_max = 16'384;                              ///< of each of two generations
    std::uint64_t seed = 0;  ///< random, and another one for each table: writers of chains are named by it
  };
  explicit EntityTable(Options options);

  /// Shape: before anything is asked. Errors: invalid_argument: the type is hosted already, or is no type
  [[nodiscard]] Result<void> host(HostedKind kind);

  /// Every ask is answered once.
  void ask(const AggregateId& aggregate, Asked&& asked, SteadyTime now, EntityActions& actions);
  /// Returns: whether somebody waited under this ticket.
  bool cancel(const AggregateId& aggregate, AskTicket ticket, SteadyTime now, EntityActions& actions);

  /// One of the permits that were wanted.
  void permit(SteadyTime now, EntityActions& actions);
  void loaded(EntityOp op, Result<Replayed> result, SteadyTime now, EntityActions& actions);
  void model_read(EntityOp op, Result<DecisionRead> result, SteadyTime now, EntityActions& actions);
  void prepared(EntityOp op, Result<std::string> answer, SteadyTime now, EntityActions& actions);
  void looked_up(EntityOp op, Result<std::optional<RecordedCommand>> result, SteadyTime now, EntityActions& actions);
  void appended(EntityOp op, Result<Appended> result, SteadyTime now, EntityActions& actions);
  void snapshot_written(EntityOp op, Result<void> result, SteadyTime now, EntityActions& actions);

  void timer(SteadyTime now, EntityActions& actions);
  [[nodiscard]] SteadyTime wake_at() const;

  /// What was asked before is answered first; what comes meanwhile waits for the next life.
  void passivate(const AggregateId& aggregate, SteadyTime now, EntityActions& actions);
  /// Passivates the aggregates whose state may hold data of an erased subject.
  void passivate_of_subjects(SteadyTime now, EntityActions& actions);
  /// These aggregates live elsewhere from now on. What was not sent is answered `unavailable`, what was sent when it
  /// has come back; then each is given up, and would be loaded anew.
  void end(const std::function<bool(const AggregateId&)>& which, SteadyTime now, EntityActions& actions);
  /// Answers what was not sent, and all that comes, with `unavailable`; stopped() when what was sent has come back.
  void stop(SteadyTime now, EntityActions& actions);
  /// What was sent is not waited for: `timeout`.
  void abandon(SteadyTime now, EntityActions& actions);
  [[nodiscard]] bool stopped() const { return stopping_ && index_.empty(); }

  [[nodiscard]] const EntityCounters& counters() const { return share_.counters; }
  /// Aggregates in memory, whatever their phase; those of them that have a state.
  [[nodiscard]] std::size_t known() const { return index_.size(); }
  [[nodiscard]] std::size_t live() const { return live_; }
  /// nullptr: passive.
  [[nodiscard]] const Entity* find(const AggregateId& aggregate) const;

 private:
  struct Slot : IdleLinks, WakeLink {
    Slot(EntityPlace at, const AggregateId& id, const HostedKind& hosted, EntityShare& share)
        : entity(at, id, hosted, share), place(at) {}
    Entity entity;
    EntityPlace place;
    bool wants = false;   ///< a permit, and stands in wanting_
    bool permit = false;  ///< has one
    bool live = false;    ///< counted
  };
  struct HashOf {
    using is_transparent = void;
    std::size_t operator()(const Slot* slot) const { return slot->entity.id_hash(); }
    std::size_t operator()(const AggregateId& id) const { return std::hash<AggregateId>{}(id); }
  };
  struct SameId {
    using is_transparent = void;
    bool operator()(const Slot* a, const Slot* b) const { return a->entity.id() == b->entity.id(); }
    bool operator()(const AggregateId& id, const Slot* slot) const { return slot->entity.id() == id; }
    bool operator()(const Slot* slot, const AggregateId& id) const { return slot->entity.id() == id; }
  };

  [[nodiscard]] Result<Slot*> slot_of(const AggregateId& aggregate);
  [[nodiscard]] Slot* slot_at(EntityPlace place) const;
  [[nodiscard]] Slot* late(EntityOp op);
  void settle(Slot& slot, SteadyTime now, EntityActions& actions);
  void give_up(Slot& slot);
  void shrink();
  void each(void (Entity::*input)(SteadyTime, EntityActions&), SteadyTime now, EntityActions& actions);

  const Options options_;
  bool stopping_ = false;
  std::size_t live_ = 0;
  EntityShare share_;
  std::unordered_map<std::string, std::unique_ptr<HostedKind>> kinds_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::uint32_t> lives_;  ///< of each slot: how often it was given up
  std::vector<std::uint32_t> free_;
  std::unordered_set<Slot*, HashOf, SameId> index_;
  std::deque<EntityPlace> wanting_;  ///< one for each permit wanted; perhaps of one that is gone
  IdleOrder idle_;
  WakeHeap wakes_;
};

}  // namespace evershard::actors
