// Ledger: an aggregate that has one of everything the model knows, for tests.

#pragma once

#include <evershard/aggregate.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/actors/model/ledger.pb.h"

namespace evershard {

inline ledger::Deposit deposit(std::int64_t amount, std::string source = "cash") {
  ledger::Deposit command;
  command.set_amount(amount);
  command.set_source(std::move(source));
  return command;
}
inline ledger::Withdraw withdraw(std::int64_t amount) {
  ledger::Withdraw command;
  command.set_amount(amount);
  return command;
}
inline ledger::Break breaking(std::string where) {
  ledger::Break command;
  command.set_where(std::move(where));
  return command;
}
inline ledger::Deposited deposited(std::int64_t amount, std::string source = "cash") {
  ledger::Deposited event;
  event.set_amount(amount);
  event.set_source(std::move(source));
  return event;
}
inline ledger::Withdrawn withdrawn(std::int64_t amount) {
  ledger::Withdrawn event;
  event.set_amount(amount);
  return event;
}
inline ledger::Balance balance(std::int64_t amount) {
  ledger::Balance reply;
  reply.set_amount(amount);
  return reply;
}

struct Ledger {
  static constexpr std::string_view type = "ledger";
  static constexpr std::uint32_t schema_revision = 3;
  static constexpr Retention retention{.snapshot_every = 100, .keep = 2};
  using State = ledger::State;
  using Commands = Types<ledger::Deposit, ledger::Withdraw, ledger::Sweep, ledger::Close, ledger::Audit, ledger::Break>;
  using Events = Types<ledger::Deposited, ledger::Withdrawn, ledger::Closed>;
  using OldEvents =
      Types<ledger::DepositedV1, ledger::Renumbered, ledger::Transferred, ledger::Corrected, ledger::DepositedV0>;

  static constexpr auto now = [](const State& state) { return balance(state.balance()); };

  static Effect<ledger::Balance> on(const State&, const ledger::Deposit& c) {
    if (c.amount() == 0) return reply(now);
    return persist(deposited(c.amount(), c.source())).fail_if(Query{}.tags({"frozen:" + c.source()})).reply(now);
  }
  static Effect<ledger::Balance> on(const State& state, const ledger::Withdraw& c) {
    if (state.balance() < c.amount()) return reject("insufficient funds");
    return persist(withdrawn(c.amount())).with_snapshot().reply(now);
  }
  static Effect<> on(const State& state, const ledger::Sweep& c) {
    std::vector<ledger::Withdrawn> events;
    for (const auto& source : c.sources()) {
      if (state.by_source().count(source) != 0) events.push_back(withdrawn(state.by_source().at(source)));
    }
    return persist_all(events);
  }
  static Effect<> on(const State& state, const ledger::Close&) {
    if (state.closed() != 0) return nothing();
    return persist(ledger::Closed{});
  }
  static ledger::Balance on(const State& state, const ledger::Audit&) { return now(state); }
  static Effect<ledger::Balance> on(const State&, const ledger::Break& c) {
    if (c.where() == "handler") throw std::runtime_error("broken handler");
    if (c.where() == "number") throw 7;
    if (c.where() == "unlisted") return persist(ledger::Unlisted{}).reply(now);
    if (c.where() == "other state") return reply([](const ledger::Balance& state) { return state; });
    if (c.where() == "tags") return persist(deposited(1, "throw")).reply(now);
    if (c.where() == "apply") return persist(withdrawn(-1)).reply(now);
    return persist(deposited(1)).reply([](const State&) -> ledger::Balance {
      throw std::runtime_error("broken reply");
    });
  }

  static void apply(State& state, const ledger::Deposited& e) {
    state.set_balance(state.balance() + e.amount());
    (*state.mutable_by_source())[e.source()] += e.amount();
  }
  static void apply(State& state, const ledger::Withdrawn& e) {
    if (e.amount() < 0) throw std::invalid_argument("negative");
    state.set_balance(state.balance() - e.amount());
  }
  static void apply(State& state, const ledger::Closed&) { state.set_closed(1); }

  static std::vector<Tag> tags(const ledger::Deposited& e) {
    if (e.source() == "throw") throw std::runtime_error("broken tags");
    return {"source:" + e.source()};
  }
  static std::vector<AggregateId> also(const ledger::Deposited& e) { return {{"source", e.source()}}; }

  static ledger::Deposited upcast(const ledger::DepositedV1& e) { return deposited(e.cents(), "old"); }
  static std::optional<ledger::Deposited> upcast(const ledger::Renumbered&) { return std::nullopt; }
  static std::vector<ledger::Deposited> upcast(const ledger::Transferred& e) {
    std::vector<ledger::Deposited> events;
    for (const auto amount : e.amounts()) events.push_back(deposited(amount, "transfer"));
    return events;
  }
  static std::variant<std::monostate, ledger::Deposited, ledger::Withdrawn> upcast(const ledger::Corrected& e) {
    if (e.difference() > 0) return deposited(e.difference(), "correction");
    if (e.difference() < 0) return withdrawn(-e.difference());
    return std::monostate{};
  }
  static ledger::DepositedV1 upcast(const ledger::DepositedV0& e) {
    ledger::DepositedV1 event;
    event.set_cents(std::stoll(e.cents()));
    return event;
  }
};

}  // namespace evershard
