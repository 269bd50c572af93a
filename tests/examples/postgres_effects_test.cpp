// The effects of examples/postgres_effects in a real PostgreSQL: the program is killed, its connections are ended, the
// server is down and starts again; each payout is one row, and its number comes back as an event, once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <evershard/local.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "examples/postgres_effects/payouts.hpp"
#include "tests/examples/postgres_server.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Enterings = ProcessAggregate<example::Entering>;

constexpr EffectOptions ledger_options{
    .at_a_time = 8, .attempts_max = 10'000, .retry_first = 20ms, .retry_most = 200ms, .timeout = 10s};

class PostgresEffects : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!server().is_there()) GTEST_FAIL() << "without PostgreSQL nothing of this is tested";
    place_ = std::filesystem::temp_directory_path() / ("evershard-payouts-" + std::to_string(::getpid()));
    std::filesystem::remove_all(place_);
    sql("DROP TABLE IF EXISTS ledger");
    sql(example::PostgresLedger::table);
  }
  void TearDown() override { std::filesystem::remove_all(place_); }
  static void TearDownTestSuite() { server_.reset(); }

  static PostgresServer& server() {
    if (!server_) server_ = std::make_unique<PostgresServer>();
    return *server_;
  }
  /// Every cell, row by row.
  static std::vector<std::string> sql(const std::string& text) {
    PGconn* connection = PQconnectdb(server().connection().c_str());
    PQsetNoticeProcessor(
        connection, [](void*, const char*) {}, nullptr);
    PGresult* found = PQexec(connection, text.c_str());
    const auto status = PQresultStatus(found);
    EXPECT_TRUE(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) << PQerrorMessage(connection);
    std::vector<std::string> cells;
    for (int row = 0; row < PQntuples(found); ++row)
      for (int column = 0; column < PQnfields(found); ++column) cells.emplace_back(PQgetvalue(found, row, column));
    PQclear(found);
    PQfinish(connection);
    return cells;
  }
  static int rows() {
    const auto cells = sql("SELECT count(*) FROM ledger");
    return cells.empty() ? 0 : std::stoi(cells.front());
  }
  /// Under whoever works there.
  static void end_connections() {
    sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> "
        "pg_backend_pid()");
  }

  static void begin(Local& store, example::PostgresLedger& ledger) {
    ASSERT_TRUE(store.host<example::Payout>());
    const auto runs = store.run<example::Entering>(example::ledger_effects(ledger, ledger_options));
    ASSERT_TRUE(runs) << runs.error().what;
  }
  static void ask(Local& store, int payout, std::int64_t cents) {
    payouts::AskForPayout command;
    command.set_payout(std::to_string(payout));
    command.set_account("ann");
    command.set_cents(cents);
    ASSERT_TRUE(store.get<example::Payout>(command.payout()).ask(command));
  }
  /// What became of it; empty: nothing, in a minute.
  static payouts::Entering outcome(Local& store, int payout) {
    for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
         std::this_thread::sleep_for(5ms)) {
      const auto state = store.get<Enterings>(std::to_string(payout)).state();
      if (state && (state->state.state.number() != 0 || !state->state.state.refused().empty()))
        return state->state.state;
    }
    return {};
  }
  /// Each payout of 1, 2, ... so many cents, or hundreds of them, has one row and one event.
  static void expect_each_once(Local& store, int all, int cents_each) {
    EXPECT_EQ(rows(), all);
    std::map<std::string, std::string> cents_of;
    const auto cells = sql("SELECT number, cents FROM ledger");
    for (std::size_t n = 0; n + 1 < cells.size(); n += 2) cents_of[cells[n]] = cells[n + 1];
    for (int payout = 1; payout <= all; ++payout) {
      const auto number = std::to_string(outcome(store, payout).number());
      EXPECT_EQ(cents_of[number], std::to_string(payout * cents_each)) << "payout " << payout << ", entry " << number;
    }
    std::map<std::string, int> events;
    auto stream = store.read(Query{}.types({"payouts.PayoutEntered"}));
    for (const auto& event : stream) ++events[event.aggregate->value];
    EXPECT_FALSE(stream.error());
    EXPECT_EQ(events.size(), static_cast<std::size_t>(all));
    for (const auto& [payout, count] : events) EXPECT_EQ(count, 1) << payout;
  }

  std::filesystem::path place_;

 private:
  static inline std::unique_ptr<PostgresServer> server_;
};

TEST_F(PostgresEffects, AreOneRowThoughConnectionsAndTheServerEnd) {
  constexpr int all = 300;
  example::PostgresLedger ledger(server().connection(), 4);
  auto store = Local::open({.shards = 4}).value();
  begin(store, ledger);
  std::mt19937_64 dice(1);
  for (int payout = 1; payout <= all; ++payout) {
    ask(store, payout, payout);
    if (payout % 20 == 0) end_connections();
    if (payout == 150) {
      server().stop(SIGQUIT);
      std::this_thread::sleep_for(200ms);
      server().start();
    }
  }
  for (int payout = 1; payout <= all; ++payout) EXPECT_NE(outcome(store, payout).number(), 0) << payout;
  expect_each_once(store, all, 1);
}

TEST_F(PostgresEffects, ThatNoTableTakesAreNotTriedAgain) {
  example::PostgresLedger ledger(server().connection(), 1);
  auto store = Local::open({.shards = 4}).value();
  begin(store, ledger);

  ask(store, 1, -5);
  ask(store, 2, 5);

  EXPECT_THAT(outcome(store, 1).refused(), HasSubstr("ledger_cents_check"));
  EXPECT_NE(outcome(store, 2).number(), 0);
  EXPECT_EQ(rows(), 1);
  EXPECT_EQ(store.process_status().at(0).given_up, 1u);
}

TEST_F(PostgresEffects, WaitForATableThatIsNotThereYet) {
  sql("DROP TABLE ledger");
  example::PostgresLedger ledger(server().connection(), 1);
  auto store = Local::open({.shards = 4}).value();
  begin(store, ledger);

  ask(store, 1, 1);
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       store.process_status().at(0).failed == 0 && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(5ms);
  EXPECT_GT(store.process_status().at(0).failed, 0u);
  sql(example::PostgresLedger::table);

  EXPECT_NE(outcome(store, 1).number(), 0);
  expect_each_once(store, 1, 1);
}

// Between the commit there and what is written here, above all.
TEST_F(PostgresEffects, AreOneRowThoughTheProgramIsKilled) {
  constexpr int all = 120;
  const std::vector<std::string> words{EXAMPLE_POSTGRES_EFFECTS, place_.string(), server().connection(),
                                       std::to_string(all)};
  std::mt19937_64 dice(2);
  for (int round = 0, rounds = rounds_or(8); round != rounds; ++round) {
    Process killed(words);
    const int before = rows();
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         rows() < std::min(before + 5, all) && std::chrono::steady_clock::now() < until;) {
    }
    if (dice() % 3 == 0) end_connections();
    std::this_thread::sleep_for(std::chrono::milliseconds(dice() % 10));
    killed.signal(SIGKILL);
    (void)killed.wait();
  }
  const auto finished = run(words);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("payout 120: entry "));
  LocalOptions options;
  options.data_dir = place_.string();
  auto store = Local::open(options).value();
  example::PostgresLedger ledger(server().connection(), 1);
  begin(store, ledger);
  expect_each_once(store, all, 100);
}

}  // namespace
}  // namespace evershard::testing
