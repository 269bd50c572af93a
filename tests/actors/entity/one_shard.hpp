// OneShard: a table of counters and its journal, driven by hand in one thread.

#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "evershard/actors/entity/entity_table.hpp"
#include "evershard/protocol/check.hpp"
#include "tests/actors/entity/counter_kind.hpp"
#include "tests/actors/entity/small_journal.hpp"

namespace evershard::actors {

using namespace std::chrono_literals;

inline const AggregateId one{"counter", "1"};

class OneShard {
 public:
  explicit OneShard(EntityOptions options = {}, Limits limits = {}, EntityTable::Options shard = {}) : table(shard) {
    EXPECT_TRUE(table.host({kind, options, limits}));
  }

  struct Extra {
    std::string id{};
    std::optional<std::chrono::milliseconds> timeout{};
    AskKind kind = AskKind::command;
    AggregateId aggregate = one;
  };
  /// Asks, and does nothing else yet.
  AskTicket ask(std::string_view text, Extra extra) {
    const AskTicket ticket{++tickets};
    Asked asked{ticket, extra.kind, command(text), extra.id, {}};
    if (extra.timeout) asked.deadline = now + *extra.timeout;
    table.ask(extra.aggregate, std::move(asked), now, actions);
    absorb();
    return ticket;
  }
  AskTicket ask(std::string_view text) { return ask(text, Extra{}); }
  /// Asks and carries out everything. Returns: the answer.
  AnyAnswer get(std::string_view text, Extra extra) {
    const AskTicket ticket = ask(text, std::move(extra));
    run();
    return answer(ticket);
  }
  AnyAnswer get(std::string_view text) { return get(text, Extra{}); }

  [[nodiscard]] bool answered(AskTicket ticket) const { return answers.contains(ticket.value); }
  AnyAnswer answer(AskTicket ticket) {
    EXPECT_TRUE(answered(ticket)) << "ticket " << ticket.value;
    return answers[ticket.value];
  }
  ErrorCode code(AskTicket ticket) { return answer(ticket).error.code; }

  /// What was to be done, sorted into what is held.
  void absorb() {
    for (auto& load : actions.loads) loads.push_back(std::move(load));
    for (auto& read : actions.reads) reads.push_back(std::move(read));
    for (auto& look_up : actions.look_ups) look_ups.push_back(std::move(look_up));
    for (auto& send : actions.sends) sends.push_back(std::move(send));
    for (auto& snapshot : actions.snapshots) snapshots.push_back(std::move(snapshot));
    for (auto& told : actions.answers) {
      EXPECT_TRUE(answers.emplace(told.ticket.value, std::move(told.answer)).second)
          << "answered twice: " << told.ticket.value;
    }
    permits += actions.permits_wanted;
    permits_returned += actions.permits_returned;
    actions.clear();
  }

  /// One of each, the oldest. Shape: there is one.
  void permit() {
    --permits;
    table.permit(now, actions);
    absorb();
  }
  void load() {
    auto load = take(loads);
    table.loaded(load.op, replay(*load.kind, journal, load.aggregate), now, actions);
    absorb();
  }
  void read() {
    auto read = take(reads);
    table.model_read(read.op, read_decision(*read.kind, journal, read.command, std::move(read.decision), read.at_least),
                     now, actions);
    absorb();
  }
  void look_up() {
    auto look_up = take(look_ups);
    table.looked_up(look_up.op, journal.command(look_up.aggregate, look_up.command_id), now, actions);
    absorb();
  }
  void write() {
    auto send = take(sends);
    journal.append(send.append, send.chain, send.loaded_at,
                   [&](Result<Appended> done) { answer_append(send.op, std::move(done)); });
  }
  /// Refused without being written.
  void refuse_write(ErrorCode code) { answer_append(take(sends).op, refuse(code, "a fault")); }
  /// Written, and nobody hears of it.
  void write_and_lose(ErrorCode code = ErrorCode::timeout) {
    auto send = take(sends);
    EXPECT_TRUE(journal.write(send.append, send.chain));
    answer_append(send.op, refuse(code, "a fault"));
  }
  void answer_append(EntityOp op, Result<Appended> result) {
    table.appended(op, std::move(result), now, actions);
    absorb();
  }
  void put_snapshot() {
    auto snapshot = take(snapshots);
    table.snapshot_written(snapshot.op, journal.put_snapshot(std::move(snapshot.snapshot), snapshot.loaded_at), now,
                           actions);
    absorb();
  }
  /// Everything but appends.
  void run_reads() {
    for (;;) {
      if (permits > 0)
        permit();
      else if (!loads.empty())
        load();
      else if (!reads.empty())
        read();
      else if (!look_ups.empty())
        look_up();
      else if (!snapshots.empty())
        put_snapshot();
      else
        return;
    }
  }
  /// Everything, until nothing is left to do.
  void run() {
    for (run_reads(); !sends.empty(); run_reads()) write();
  }
  /// Lets time pass, from one due timer to the next.
  void pass(std::chrono::milliseconds time) {
    const SteadyTime until = now + time;
    while (table.wake_at() <= until) {
      now = std::max(now, table.wake_at());
      table.timer(now, actions);
      absorb();
    }
    now = until;
  }
  void pass_and_run(std::chrono::milliseconds time) {
    const SteadyTime until = now + time;
    for (run(); table.wake_at() <= until; run()) {
      now = std::max(now, table.wake_at());
      table.timer(now, actions);
      absorb();
    }
    now = until;
  }
  void stop() {
    table.stop(now, actions);
    absorb();
  }
  void passivate(const AggregateId& aggregate = one) {
    table.passivate(aggregate, now, actions);
    absorb();
  }
  [[nodiscard]] const EntityCounters& counters() const { return table.counters(); }

  std::shared_ptr<CounterKind> kind = std::make_shared<CounterKind>();
  SmallJournal journal;
  EntityTable table;
  SteadyTime now{1h};
  EntityActions actions;
  std::uint64_t tickets = 0;
  std::map<std::uint64_t, AnyAnswer> answers;
  std::deque<EntityActions::Load> loads;
  std::deque<EntityActions::ReadModel> reads;
  std::deque<EntityActions::LookUp> look_ups;
  std::deque<EntityActions::Send> sends;
  std::deque<EntityActions::PutSnapshot> snapshots;
  std::uint32_t permits = 0;
  std::uint32_t permits_returned = 0;

 private:
  template <class Pending>
  Pending take(std::deque<Pending>& from) {
    EVERSHARD_CHECK(!from.empty(), "there is something to do");
    Pending first = std::move(from.front());
    from.pop_front();
    return first;
  }
};

}  // namespace evershard::actors
