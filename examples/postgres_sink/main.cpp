// Keeps balances of accounts in PostgreSQL, for as long as nobody takes over:
//
//   example_postgres_sink 127.0.0.1:7420 "host=/run/postgresql dbname=shop"
//
// Start it twice: the one that came later goes on, the other one ends with status 3. Kill either at any time: every
// event counts once.

#include <cstdio>
#include <thread>

#include <evershard/remote.hpp>
#include <evershard/sink.hpp>

#include "examples/postgres_sink/balances.hpp"

namespace {

using namespace std::chrono_literals;
using evershard::ErrorCode;

bool passes(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::timeout || code == ErrorCode::overloaded;
}

int failed(const evershard::Error& error) {
  std::fprintf(stderr, "postgres_sink: %s: %s\n", std::string(evershard::name_of(error.code)).c_str(),
               error.what.c_str());
  return error.code == ErrorCode::fenced ? 3 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s HOST:PORT POSTGRES-CONNECTION\n", argv[0]);
    return 2;
  }
  auto store = evershard::Remote::connect({.server = argv[1]});
  if (!store) return failed(store.error());
  const auto stats = store->stats();
  if (!stats) return failed(stats.error());
  auto target = example::PostgresTarget::connect(argv[2], "balances", example::keep_balance);
  if (!target) return failed(target.error());
  if (auto made = (*target)->run(example::balances_table); !made) return failed(made.error());

  const auto epoch = evershard::claim_sink(*store, "balances");
  if (!epoch) return failed(epoch.error());
  auto sink = evershard::Sink::begin(*store, {stats->info.store_id, stats->info.fork_id, *epoch}, **target,
                                     {.page_events_max = 100});
  if (!sink) return failed(sink.error());
  for (;;) {
    const auto step = sink->step(100ms);
    if (step && step->events > 0) {
      std::printf("%llu\n", static_cast<unsigned long long>(sink->checkpoint().position.value));
      std::fflush(stdout);
    }
    if (step) continue;
    if (!passes(step.error().code)) return failed(step.error());
    std::this_thread::sleep_for(100ms);  // PostgreSQL or the store is away: tried again
  }
}
