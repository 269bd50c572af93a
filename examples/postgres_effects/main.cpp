// Asks for payouts, and has each entered in a ledger in PostgreSQL, whenever that is there:
//
//   postgres_effects DIR "host=/run/postgresql dbname=shop" PAYOUTS
//
// The table is examples/postgres_effects/postgres_ledger.hpp's. Kill it at any time and start it again: each payout is
// one row.

#include <chrono>
#include <cstdlib>
#include <evershard/local.hpp>
#include <iostream>
#include <string>
#include <thread>

#include "examples/postgres_effects/payouts.hpp"

namespace {

using namespace std::chrono_literals;

[[noreturn]] void give_up(const std::string& what) {
  std::cerr << "postgres_effects: " << what << '\n';
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) give_up("usage: postgres_effects DIR POSTGRES-CONNECTION PAYOUTS");
  std::cout << std::unitbuf;
  example::PostgresLedger ledger(argv[2], 4);
  evershard::LocalOptions options;
  options.data_dir = argv[1];
  auto opened = evershard::Local::open(options);
  if (!opened) give_up(opened.error().what);
  auto& store = *opened;
  if (auto hosted = store.host<example::Payout>(); !hosted) give_up(hosted.error().what);
  auto runs = store.run<example::Entering>(
      example::ledger_effects(ledger, {.at_a_time = 8, .attempts_max = 100, .retry_first = 100ms, .retry_most = 5s}));
  if (!runs) give_up(runs.error().what);

  const int count = std::atoi(argv[3]);
  for (int n = 1; n <= count; ++n) {
    payouts::AskForPayout ask;
    ask.set_payout(std::to_string(n));
    ask.set_account(n % 2 == 0 ? "ann" : "bob");
    ask.set_cents(100 * n);
    const auto answer = store.get<example::Payout>(ask.payout()).ask(ask, {.command_id = "ask-" + ask.payout()});
    if (!answer) give_up(answer.error().what);
  }
  for (int n = 1; n <= count; ++n) {
    const auto entering = store.get<evershard::ProcessAggregate<example::Entering>>(std::to_string(n));
    for (;; std::this_thread::sleep_for(5ms)) {
      const auto state = entering.state();
      if (!state) give_up(state.error().what);
      const auto& known = state->state.state;
      if (known.number() == 0 && known.refused().empty()) continue;
      std::cout << "payout " << n << ": "
                << (known.refused().empty() ? "entry " + std::to_string(known.number()) : known.refused()) << '\n';
      break;
    }
  }
}
