// The sink of examples/postgres_sink on a real PostgreSQL: killed, fenced, restarted under; each event's effect once.

#include <libpq-fe.h>

#include <atomic>
#include <map>
#include <random>

#include <evershard/local.hpp>
#include <evershard/sink.hpp>

#include "examples/postgres_sink/balances.hpp"
#include "tests/examples/postgres_server.hpp"
#include "tests/process/server_process.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using example::PostgresTarget;
using ::testing::HasSubstr;

/// account -> balance, number of events
using Balances = std::map<std::string, std::pair<long long, long long>>;

Balances recomputed(EventStore& store) {
  Balances balances;
  auto stream = store.read(Query::all());
  for (const auto& event : stream) {
    if (!event.aggregate || event.aggregate->type != "account") continue;
    const long long amount = std::stoll(event.payload.substr(event.payload.find(':') + 1));
    auto& [balance, events] = balances[event.aggregate->value];
    balance += event.type == "Deposited" ? amount : -amount;
    ++events;
  }
  EXPECT_FALSE(stream.error());
  return balances;
}

void append_some(EventStore& store, std::mt19937_64& random, int count) {
  for (int i = 0; i < count; ++i) {
    const bool other = random() % 5 == 0;
    const auto done = other ? store.append(Append{}.event("order-1", "OrderPlaced", "{}"))
                            : store.append(Append{}
                                               .event("account-" + std::to_string(random() % 6),
                                                      random() % 2 ? "Deposited" : "Withdrawn",
                                                      "{\"amount\":" + std::to_string(random() % 1'000) + "}")
                                               .event("account-9", "Deposited", "{\"amount\":1}"));
    ASSERT_TRUE(done) << done.error().what;
  }
}

class PostgresSink : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!server().is_there()) GTEST_FAIL() << "without PostgreSQL nothing of this is tested";
    auto target = connect();
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE((*target)->run("DROP TABLE IF EXISTS balances"));
    ASSERT_TRUE((*target)->run("DELETE FROM evershard_sinks"));
    ASSERT_TRUE((*target)->run(example::balances_table));
  }
  static void TearDownTestSuite() { server_.reset(); }

  static PostgresServer& server() {
    if (!server_) server_ = std::make_unique<PostgresServer>();
    return *server_;
  }
  static Result<std::unique_ptr<PostgresTarget>> connect(example::Handler handler = example::keep_balance) {
    return PostgresTarget::connect(server().connection(), "balances", std::move(handler));
  }
  static SinkWriter writer(const Local& store, std::uint64_t epoch) {
    const auto info = store.stats().value().info;
    return {info.store_id, info.fork_id, Epoch(epoch)};
  }
  /// Until everything that is there is written; errors that pass are tried again.
  static Result<void> catch_up(Sink& sink, GlobalPosition to) {
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         sink.checkpoint().position < to && std::chrono::steady_clock::now() < until;) {
      const auto step = sink.step(50ms);
      if (step) {
        if (step->caught_up) return {};
        continue;
      }
      if (step.error().code != ErrorCode::unavailable && step.error().code != ErrorCode::timeout)
        return refuse(step.error());
      std::this_thread::sleep_for(20ms);
    }
    return {};
  }
  static Balances rows() {
    PGconn* connection = PQconnectdb(server().connection().c_str());
    PGresult* found = PQexec(connection, "SELECT account, balance, events FROM balances");
    EXPECT_EQ(PQresultStatus(found), PGRES_TUPLES_OK) << PQerrorMessage(connection);
    Balances balances;
    for (int row = 0; row < PQntuples(found); ++row) {
      balances[PQgetvalue(found, row, 0)] = {std::stoll(PQgetvalue(found, row, 1)),
                                             std::stoll(PQgetvalue(found, row, 2))};
    }
    PQclear(found);
    PQfinish(connection);
    return balances;
  }

 private:
  static inline std::unique_ptr<PostgresServer> server_;
};

TEST_F(PostgresSink, EachEventCountsOnceAndTheNextWriterGoesOn) {
  auto store = Local::open({.shards = 4}).value();
  std::mt19937_64 random(1);
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    append_some(store, random, 80);
    auto target = connect().value();
    auto sink = Sink::begin(store, writer(store, epoch), *target, {.page_events_max = 30});
    ASSERT_TRUE(sink) << sink.error().what;
    ASSERT_TRUE(catch_up(*sink, store.head().value()));
    EXPECT_EQ(rows(), recomputed(store));
  }
}

TEST_F(PostgresSink, TheOlderOfTwoWritersIsFencedAndNothingCountsTwice) {
  auto store = Local::open({.shards = 4}).value();
  std::mt19937_64 random(2);
  append_some(store, random, 50);
  auto old_target = connect().value(), new_target = connect().value();
  auto older = Sink::begin(store, writer(store, claim_sink(store, "balances").value().value), *old_target,
                           {.page_events_max = 10});
  ASSERT_TRUE(older);
  ASSERT_TRUE(older->step(1s));

  auto newer = Sink::begin(store, writer(store, claim_sink(store, "balances").value().value), *new_target);
  ASSERT_TRUE(newer) << newer.error().what;
  Result<Sink::Step> late = older->step(1s);
  for (int i = 0; late && i < 10; ++i) late = older->step(1s);
  const auto again = older->step(1s);
  ASSERT_TRUE(catch_up(*newer, store.head().value()));

  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::fenced);
  EXPECT_EQ(again.error().code, ErrorCode::fenced);
  EXPECT_EQ(Sink::begin(store, writer(store, 1), *old_target).error().code, ErrorCode::fenced);
  EXPECT_EQ(rows(), recomputed(store));
}

TEST_F(PostgresSink, ManyWritersAtOnceThatAllThinkTheyAreIt) {
  auto store = Local::open({.shards = 4}).value();
  std::mt19937_64 random(3);
  append_some(store, random, 300);
  std::atomic<int> fenced{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&] {
      for (int round = 0; round < 6; ++round) {
        auto target = connect();
        if (!target) continue;
        auto sink = Sink::begin(store, writer(store, claim_sink(store, "balances").value().value), **target,
                                {.page_events_max = 7});
        if (!sink) {
          fenced += sink.error().code == ErrorCode::fenced;
          continue;
        }
        for (int step = 0; step < 8; ++step) {
          if (const auto done = sink->step(10ms); !done) {
            fenced += done.error().code == ErrorCode::fenced;
            break;
          }
        }
      }
    });
  }
  for (auto& thread : writers) thread.join();

  auto target = connect().value();
  auto last = Sink::begin(store, writer(store, claim_sink(store, "balances").value().value), *target);
  ASSERT_TRUE(last) << last.error().what;
  ASSERT_TRUE(catch_up(*last, store.head().value()));

  EXPECT_GT(fenced, 0);
  EXPECT_EQ(rows(), recomputed(store));
}

TEST_F(PostgresSink, PostgresThatGoesAwayInTheMiddleIsGoneOnWith) {
  auto store = Local::open({.shards = 4}).value();
  std::mt19937_64 random(4);
  append_some(store, random, 200);
  auto target = connect().value();
  auto sink = Sink::begin(store, writer(store, 1), *target, {.page_events_max = 20});
  ASSERT_TRUE(sink);
  int failures = 0;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(sink->step(1s));
    server().stop(SIGQUIT);
    for (int i = 0; i < 3; ++i) {
      const auto step = sink->step(10ms);
      if (step) continue;
      ++failures;
      EXPECT_TRUE(step.error().code == ErrorCode::unavailable || step.error().code == ErrorCode::timeout)
          << step.error().what;
    }
    server().start();
  }
  ASSERT_TRUE(catch_up(*sink, store.head().value()));

  EXPECT_GT(failures, 0);
  EXPECT_EQ(rows(), recomputed(store));
}

/// The commit happens, or does not, and nobody hears of it.
class SilentTarget final : public SinkTarget {
 public:
  SilentTarget(SinkTarget& to, std::uint64_t seed) : to_(to), random_(seed) {}
  Result<std::optional<SinkCheckpoint>> checkpoint() override { return to_.checkpoint(); }
  Result<void> write(std::span<const RecordedEvent> events, const std::optional<SinkCheckpoint>& expected,
                     const SinkCheckpoint& next) override {
    const bool silent = random_() % 2 == 0;
    if (silent && random_() % 2 == 0) return refuse(ErrorCode::timeout, "not committed");
    auto written = to_.write(events, expected, next);
    if (silent && written) return refuse(ErrorCode::timeout, "committed");
    return written;
  }

 private:
  SinkTarget& to_;
  std::mt19937_64 random_;
};

TEST_F(PostgresSink, AnUnknownOutcomeIsLookedUpBeforeAnythingIsWrittenAgain) {
  auto store = Local::open({.shards = 4}).value();
  std::mt19937_64 random(5);
  append_some(store, random, 200);
  auto target = connect().value();
  SilentTarget silent(*target, 5);
  auto sink = Sink::begin(store, writer(store, 1), silent, {.page_events_max = 9});
  ASSERT_TRUE(sink) << sink.error().what;

  ASSERT_TRUE(catch_up(*sink, store.head().value()));

  EXPECT_EQ(rows(), recomputed(store));
}

TEST_F(PostgresSink, ARestoredStoreAndOneThatEndsEarlierAreNoticed) {
  const ServerFolder folder;
  const auto at = [&](const char* name) { return folder.path() / name; };
  auto store = Local::open({.data_dir = at("first"), .shards = 4, .disk_reserve_bytes = 1 << 20}).value();
  std::mt19937_64 random(6);
  append_some(store, random, 20);
  ASSERT_TRUE(store.backup(at("copy")));
  append_some(store, random, 20);
  auto target = connect().value();
  {
    auto sink = Sink::begin(store, writer(store, 1), *target);
    ASSERT_TRUE(sink);
    ASSERT_TRUE(catch_up(*sink, store.head().value()));
  }
  auto restored = Local::open({.data_dir = at("copy"), .disk_reserve_bytes = 1 << 20}).value();
  auto other = Local::open({.shards = 4}).value();

  const auto fork = Sink::begin(restored, writer(restored, 2), *target);
  const auto foreign = Sink::begin(other, writer(other, 2), *target);
  const auto ahead = Sink::begin(restored, writer(store, 2), *target, {.watermark_timeout = 10ms});

  ASSERT_FALSE(fork);
  EXPECT_EQ(fork.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(fork.error().what, HasSubstr("restored or a clone"));
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::invalid_argument);
  ASSERT_FALSE(ahead);
  EXPECT_EQ(ahead.error().code, ErrorCode::unavailable);
  EXPECT_EQ(rows(), recomputed(store));  // nothing was touched
  EXPECT_TRUE(Sink::begin(store, writer(store, 2), *target));
}

TEST_F(PostgresSink, AHandlerThatFailsOrThrowsUndoesItsPageAndStops) {
  auto store = Local::open({.shards = 4}).value();
  ASSERT_TRUE(store.append(Append{}.event("account-1", "Deposited", R"({"amount":5})")));
  ASSERT_TRUE(store.append(Append{}.event("account-1", "Deposited", R"({"amount":"none"})")));
  ASSERT_TRUE(store.append(Append{}.event("account-1", "Deposited", R"({"amount":7})")));
  auto target = connect().value();
  auto sink = Sink::begin(store, writer(store, 1), *target, {.page_events_max = 2});
  ASSERT_TRUE(sink);

  const auto bad = sink->step(1s), again = sink->step(1s);

  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(bad.error().what, HasSubstr("position 2"));
  EXPECT_FALSE(again);
  EXPECT_TRUE(rows().empty());
  auto throwing = connect([](example::Transaction&, const RecordedEvent&) -> Result<void> {
                    throw std::runtime_error("no");
                  }).value();
  auto thrower = Sink::begin(store, writer(store, 2), *throwing);
  ASSERT_TRUE(thrower);
  EXPECT_THAT(thrower->step(1s).error().what, HasSubstr("the handler threw: no"));
}

TEST_F(PostgresSink, KilledAtAnyPointTwoAtATime) {
  const char* set = std::getenv("EVERSHARD_ROUNDS");
  const int rounds = set != nullptr ? std::atoi(set) : 8;
  const ServerFolder folder;
  ServerProcess served((folder.path() / "data").string());
  auto store = served.connect();
  std::mt19937_64 random(7);
  const auto start = [&] {
    return std::make_unique<Process>(
        std::vector<std::string>{EXAMPLE_POSTGRES_SINK, served.address(), server().connection()});
  };
  auto first = start(), second = start();
  for (int round = 0; round < rounds; ++round) {
    append_some(store, random, 60);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 120));
    auto& victim = random() % 2 ? first : second;
    victim->signal(SIGKILL);
    (void)victim->wait();
    victim = start();
    if (round % 3 == 2) {
      served.kill();
      served.start();
    }
  }
  // Of the two the one that claimed last is left; the other one ended, fenced.
  const auto wanted = recomputed(store);
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       rows() != wanted && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(50ms);
  EXPECT_EQ(rows(), wanted);
}

}  // namespace
}  // namespace evershard::testing
