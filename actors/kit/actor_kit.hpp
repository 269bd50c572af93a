// ActorKit: live aggregates in one thread, over a journal in memory that fails, and a process that crashes, when a test
// says so.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/actors/aggregate/aggregate_host.hpp"
#include "evershard/actors/kit/kit_fault.hpp"
#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard {

struct ActorKitOptions {
  std::uint64_t seed = 1;  ///< the same one: the same run, to the last delay
  bool any_order = false;  ///< what happens next, and which append is answered next, is drawn by the seed
  std::uint32_t shards = 4;
  std::size_t live_limit = 100'000;  ///< these as in AggregateOptions
  std::chrono::milliseconds idle_after = std::chrono::seconds(60);
  std::uint32_t recovery_permits = 50;
  Limits limits{};
};

/// The actors that run in production, with a scheduler and a clock that stand still until they are told. It is an
/// AggregateDoor:
///
///     evershard::ActorKit kit;
///     kit.host<BankAccount>();
///     auto account = kit.get<BankAccount>("acc-1");
///     kit.hold_appends();
///     auto pending = account.ask_future(deposit, {.command_id = "txn-1"});
///     kit.run();                                       // decided, and on its way to the journal
///     kit.crash();                                     // gone, and nobody hears of it
///     kit.restart();
///     EXPECT_FALSE(account.ask(deposit, {.command_id = "txn-1"}).duplicate());
///
/// ask(), state() and snapshot() wait: they run everything, and let time pass as far as the answer needs it; whatever
/// is held, until their deadline. ask_future() and ask_async() do nothing but send: then run(), step() or advance().
/// Owner:  one thread.
class ActorKit : public AggregateDoor {
 public:
  ActorKit() : ActorKit(ActorKitOptions{}) {}
  explicit ActorKit(ActorKitOptions options);
  ~ActorKit() override;

  // -- time and work

  /// Does all the work that there is now. Returns: whether there was any
  bool run();
  /// At most so many single things: an actor's batch, a read, an append decided, an answer given. Returns: how many
  /// there were
  std::size_t steps(std::size_t count);
  /// Time passes, with everything that happens meanwhile.
  void advance(std::chrono::nanoseconds time);
  /// What time it is: events that are written now have it.
  [[nodiscard]] Timestamp now() const;

  // -- the journal

  /// What becomes of the next append that the journal decides; called twice: of the one after it, too.
  void fail_next_append(Fault fault, ErrorCode code = ErrorCode::timeout);
  void fail_next(JournalCall call, ErrorCode code = ErrorCode::io);
  /// Appends reach the journal and are not decided, until they are released.
  void hold_appends();
  void release_appends();
  /// Appends are written, and nobody is told, until answers are released.
  void hold_answers();
  void release_answers();
  /// Somebody else writes, at once. Errors: as EventStore::append
  Result<Appended> append_from_outside(Append append);
  /// What is stored of the aggregate's snapshots cannot be read any more. Returns: how many
  std::size_t damage_snapshot(const AggregateId& aggregate);
  /// A snapshot that no aggregate took: of another revision, ahead of the events, of a wrong state.
  void plant_snapshot(RecordedSnapshot snapshot);

  [[nodiscard]] std::vector<RecordedEvent> events() const;
  [[nodiscard]] std::vector<RecordedEvent> events_of(const AggregateId& aggregate) const;
  /// Newest first.
  [[nodiscard]] std::vector<RecordedSnapshot> snapshots_of(const AggregateId& aggregate) const;
  /// Appends on their way: sent and not decided; decided and not answered.
  [[nodiscard]] std::size_t appends_undecided() const;
  [[nodiscard]] std::size_t appends_unanswered() const;

  // -- the process

  /// Everything in memory is gone: live aggregates, queues, appends that are not decided. What is written stays.
  /// Whoever waits is told nothing, ever: his future does not get ready while the kit lives. Until restart() all is
  /// `unavailable`.
  void crash();
  /// An orderly end: whoever waits is answered.
  void stop();
  /// The process again, over the same journal, with the same kinds hosted. Crashes first, if it runs.
  void restart();
  /// The same with nothing hosted: for another version of the program.
  void restart_without_kinds();

  [[nodiscard]] actors::AggregateFigures figures() const;

  // -- AggregateDoor

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

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard
