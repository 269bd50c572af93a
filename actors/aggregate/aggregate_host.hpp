// AggregateHost: the live aggregates of one node, in a few cells: an aggregate belongs to the cell of its shard,
// hash(aid) mod shard count.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/actors/entity/entity_counters.hpp"
#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::actors {

struct AggregateHostOptions {
  std::size_t live_max = 100'000;  ///< idle aggregates beyond it leave memory; busy ones never do
  std::chrono::milliseconds idle_after = std::chrono::seconds(60);  ///< then an idle one leaves memory; 0: never
  std::uint32_t recovery_permits = 128;                             ///< aggregates that load at once
  std::size_t reading_threads = 2;                                  ///< for loads, decision models and look-ups
  Limits limits{};                                                  ///< of the store
  std::string fork{};  ///< the store's; keys of questions to outside services have it, so that copies ask apart
  bool deterministic =
      false;  ///< nothing happens but in step(), run(), advance() and calls that wait; time stands still in between
  std::uint64_t seed =
      0;  ///< deterministic: of delays and names of writers; another one for each life over the same journal
  bool any_order =
      false;  ///< deterministic: what is done next is drawn by the seed; else messages, then reads, then the journal
  std::function<bool()>
      journal_step{};  ///< deterministic: does one thing that the journal has to do. Returns: whether there was any
};

struct AggregateFigures {
  EntityCounters counters{};
  std::size_t known = 0;  ///< in memory, whatever their phase
  std::size_t live = 0;
};

/// Every ask is answered once, also when the host stops. `journal` outlives it.
class AggregateHost final : public AggregateDoor {
 public:
  AggregateHost(AggregateJournal& journal, std::uint32_t shards, AggregateHostOptions options);
  ~AggregateHost() override;

  [[nodiscard]] Result<void> host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) override;
  Asking ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options,
                   AnswerDone done) override;
  [[nodiscard]] AnyAnswer ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                                       AskOptions options) override;
  [[nodiscard]] Result<StateBytes> state_bytes(const AggregateId& aggregate, StateRead how,
                                               std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<StateBytes> state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) override;
  [[nodiscard]] Result<void> take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) override;
  void passivate(const AggregateId& aggregate) override;

  /// state_bytes(strict) and take_snapshot() without waiting: the reply is the encoded state, or nothing.
  Asking ask_state(const AggregateId& aggregate, std::chrono::milliseconds timeout, AnswerDone done);
  Asking ask_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout, AnswerDone done);
  /// What a type is hosted with; nothing: it is not.
  struct Hosted {
    std::shared_ptr<const AggregateKind> kind;
    HostOptions options;
  };
  [[nodiscard]] std::optional<Hosted> hosted(std::string_view type) const;
  /// The aggregates of these shards live elsewhere now: what was not sent to the journal is answered `unavailable`,
  /// what was sent is waited for.
  void end(std::vector<ShardId> shards);

  /// Those whose state may have something of somebody's leave memory, as by passivate(): something was erased.
  void passivate_of_subjects();

  [[nodiscard]] AggregateFigures figures() const;

  /// What was not sent is answered `unavailable`; what was sent is waited for, at most for `grace`, then `timeout`.
  /// Idempotent.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds(10));

  /// deterministic: does one thing, in this thread: an actor's batch, a read, one thing of the journal's. Returns:
  /// whether there was any
  bool step();
  /// deterministic: does everything there is to do. Returns: whether there was anything
  bool run();
  /// deterministic: lets time pass, and what is due happen.
  void advance(std::chrono::nanoseconds time);
  /// deterministic: how much time has passed.
  [[nodiscard]] std::chrono::nanoseconds elapsed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::actors
