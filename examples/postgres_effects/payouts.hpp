// Each payout becomes one row of a ledger in PostgreSQL, and the row's number comes back as an event.
//
//     PayoutAsked -> INSERT, the effect's key as primary key -> PayoutEntered
//                                                            -> PayoutRefused: no such row can be
//
// The insert may be sent twice: the connection broke behind the commit, or this program was killed before it wrote what
// came of it. The second one meets the key, writes nothing, and finds the number.

#pragma once

#include <evershard/aggregate.hpp>
#include <evershard/local.hpp>
#include <evershard/process.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "examples/postgres_effects/payouts.pb.h"
#include "examples/postgres_effects/postgres_ledger.hpp"

namespace example {

struct Payout {
  static constexpr std::string_view type = "payout";
  using State = payouts::Payout;
  using Commands = evershard::Types<payouts::AskForPayout>;
  using Events = evershard::Types<payouts::PayoutAsked>;

  static evershard::Effect<> on(const State& payout, const payouts::AskForPayout& command) {
    if (payout.asked()) return evershard::nothing();
    payouts::PayoutAsked asked;
    asked.set_payout(command.payout());
    asked.set_account(command.account());
    asked.set_cents(command.cents());
    return evershard::persist(asked);
  }
  static void apply(State& payout, const payouts::PayoutAsked&) { payout.set_asked(true); }
};

/// An instance is a payout's.
struct Entering {
  static constexpr std::string_view type = "entering";
  using State = payouts::Entering;
  using Reacts = evershard::Types<payouts::PayoutAsked>;
  using Effects = evershard::Types<evershard::Performs<payouts::Enter, payouts::Entered>>;
  using Events = evershard::Types<payouts::PayoutEntered, payouts::PayoutRefused>;

  static std::string key(const payouts::PayoutAsked& asked) { return asked.payout(); }
  static evershard::Reaction<Entering> on(const State&, const payouts::PayoutAsked& asked) {
    payouts::Enter enter;
    enter.set_account(asked.account());
    enter.set_cents(asked.cents());
    return evershard::react().perform(enter);
  }
  static evershard::Reaction<Entering> on_performed(const State&, const payouts::Enter&,
                                                    const payouts::Entered& answer) {
    payouts::PayoutEntered entered;
    entered.set_number(answer.number());
    return evershard::react().record(entered).end();
  }
  static evershard::Reaction<Entering> on_not_performed(const State&, const payouts::Enter&,
                                                        const std::string& reason) {
    payouts::PayoutRefused refused;
    refused.set_reason(reason);
    return evershard::react().record(refused).end();
  }

  static void apply(State& state, const payouts::PayoutEntered& event) { state.set_number(event.number()); }
  static void apply(State& state, const payouts::PayoutRefused& event) { state.set_refused(event.reason()); }
};

/// `ledger` outlives the store that runs the process.
inline evershard::Effects ledger_effects(PostgresLedger& ledger, evershard::EffectOptions options) {
  return evershard::Effects{}.on<payouts::Enter, payouts::Entered>(
      [&ledger](const payouts::Enter& enter, const evershard::EffectAttempt& attempt,
                std::function<void(evershard::Result<payouts::Entered>)> done) {
        ledger.enter({attempt.key, enter.account(), enter.cents()},
                     [done = std::move(done)](evershard::Result<std::int64_t> number) {
                       if (!number) return done(evershard::refuse(std::move(number).error()));
                       payouts::Entered entered;
                       entered.set_number(*number);
                       done(entered);
                     });
      },
      options);
}

}  // namespace example
