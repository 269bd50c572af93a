// Aggregates on a cluster: each lives on one node, and every node reaches it.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <future>

#include "tests/cluster/embedded/embedding_cluster.hpp"

namespace evershard {
namespace {

constexpr auto patience = embedding_patience;

TEST(EmbeddedCluster, AnAggregateLivesOnOneNodeAndEveryNodeReachesIt) {
  EmbeddingCluster cluster(3);
  for (std::uint32_t n = 1; n <= 3; ++n) cluster.start_bank(n);
  std::int64_t sum = 0;
  for (std::uint32_t owner = 1; owner <= 3; ++owner) {
    const auto name = cluster.account_on(owner, 1);
    std::int64_t balance = 0;
    for (int round = 0; round < 2; ++round) {
      for (std::uint32_t asker = 1; asker <= 3; ++asker) {
        balance += asker;
        const auto answer = cluster.node(asker).get<Bank>(name).ask(Deposit{asker}, {.timeout = patience});
        EXPECT_EQ(shown(answer), std::to_string(balance));
        EXPECT_EQ(answer.version(), SeqNr{static_cast<std::uint64_t>(round) * 3 + asker});
        EXPECT_GT(answer.position(), GlobalPosition{0});
      }
    }
    sum += balance;
    for (std::uint32_t n = 1; n <= 3; ++n) {
      EXPECT_EQ(shown(cluster.node(n).get<Bank>(name).ask(Withdraw{1'000}, {.timeout = patience})),
                "no: only " + std::to_string(balance));
      EXPECT_EQ(shown(cluster.node(n).get<Bank>(name).ask(Look{}, {.timeout = patience})), std::to_string(balance));
    }
  }
  const auto live = [&] {
    std::uint64_t all = 0;
    for (std::uint32_t n = 1; n <= 3; ++n) all += figure(cluster.node(n), "live");
    return all;
  };
  // Where a shard was closed and opened again its aggregate is loaded again, and the one before goes a moment later.
  for (const auto until = std::chrono::steady_clock::now() + patience;
       live() != 3 && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(5ms);
  EXPECT_EQ(live(), 3u) << "one live actor for each of three aggregates, in the whole cluster";

  std::int64_t stored = 0;
  const auto read = patiently([&]() -> Result<void> {
    stored = 0;
    auto events = cluster.node(2).read(Query{}.types({"deposited"}), {.at_least = GlobalPosition{18}});
    for (const auto& event : events) stored += std::stoll(event.payload);
    return events.error() ? Result<void>(refuse(*events.error())) : Result<void>();
  });
  EXPECT_TRUE(read) << read.error().what;
  EXPECT_EQ(stored, sum);
}

TEST(EmbeddedCluster, ARemovedAggregateBeginsAnewForItsLiveActorToo) {
  EmbeddingCluster cluster(2);
  for (std::uint32_t n = 1; n <= 2; ++n) cluster.start_bank(n);
  const auto name = cluster.account_on(2, 1);
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(name).ask(Deposit{30}, {.timeout = patience})), "30");

  const auto removed = patiently([&] {
    return cluster.node(1).retention().remove_aggregate({"account", name}, {.by = "ann"});
  });

  ASSERT_TRUE(removed) << removed.error().what;
  EXPECT_EQ(removed->events, 1u);
  for (std::uint32_t n = 1; n <= 2; ++n)
    EXPECT_EQ(shown(cluster.node(n).get<Bank>(name).ask(Look{}, {.timeout = patience})), "0");
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(name).ask(Deposit{5}, {.timeout = patience})), "5");
  EXPECT_EQ(patiently([&] {
              return cluster.node(2).aggregate({"account", name}, std::nullopt);
            })
                .value()
                .version,
            SeqNr{3});
}

TEST(EmbeddedCluster, TablesAndDocumentsBehindARemovalAreTheSameOnEveryNode) {
  EmbeddingCluster cluster(2);
  for (std::uint32_t n = 1; n <= 2; ++n) cluster.start_bank(n);
  ASSERT_TRUE(patiently([&] {
    return cluster.node(1).projections().create(
        "totals", "table",
        R"({"fields":[{"name":"id","type":"text","role":"key"},{"name":"total","type":"integer","role":"index","nullable":true}],
      "rules":[{"types":["Placed"],"action":"increment","key":"aggregate","fields":{"total":"$.price"}},{"types":["$AggregateRemoved"],"action":"delete","key":"aggregate"}]})");
  }));
  ASSERT_TRUE(patiently([&] {
    return cluster.node(1).documents().define("order", R"({"events":{"Placed":{"increment":"total","from":"price"}}})");
  }));
  GlobalPosition last;
  const auto place = [&](std::uint32_t n, const std::string& order, int price) {
    const auto done = append_patiently(cluster.node(n),
                                       Append{}.event(order, "Placed", R"({"price":)" + std::to_string(price) + "}"));
    ASSERT_TRUE(done) << done.error().what;
    last = done->last_position;
  };
  /// `order-1 5, order-2 5`
  const auto rows = [&](std::uint32_t n) {
    std::string shown_rows;
    const auto page = patiently([&] {
      return cluster.node(n).tables().select("totals", {.order_by = {{"id"}}}, {.at_least = last, .timeout = patience});
    });
    EXPECT_TRUE(page) << (page ? "" : page.error().what);
    if (!page) return shown_rows;
    for (const auto& row : page->rows)
      shown_rows += (shown_rows.empty() ? "" : ", ") + *row.at(0).as<std::string>() + " " + row.at(1).text();
    return shown_rows;
  };
  const auto document = [&](std::uint32_t n, const std::string& number) {
    const auto found = patiently([&] { return cluster.node(n).documents().get({"order", number}); });
    return found ? found->json : found.error().what;
  };
  for (const std::uint32_t n : {1u, 2u, 1u}) place(n, "order-1", 5);
  place(2, "order-2", 5);
  for (std::uint32_t n = 1; n <= 2; ++n) {
    EXPECT_EQ(rows(n), "order-1 15, order-2 5");
    EXPECT_EQ(document(n, "1"), R"({"total":15})");
  }

  const auto removed = patiently([&] { return cluster.node(2).retention().remove_aggregate({"order", "1"}, {}); });
  ASSERT_TRUE(removed) << removed.error().what;
  place(2, "order-2", 1);
  for (std::uint32_t n = 1; n <= 2; ++n) EXPECT_EQ(rows(n), "order-2 6");
  place(1, "order-1", 7);

  for (std::uint32_t n = 1; n <= 2; ++n) {
    EXPECT_EQ(rows(n), "order-1 7, order-2 6");
    EXPECT_EQ(document(n, "1"), R"({"total":7})");
    EXPECT_EQ(document(n, "2"), R"({"total":6})");
  }
  // Built anew from what is left, it is the same.
  ASSERT_TRUE(cluster.node(2).projections().ask("totals", Projections::Ask::reset));
  for (std::uint32_t n = 1; n <= 2; ++n) EXPECT_EQ(rows(n), "order-1 7, order-2 6");
}

TEST(EmbeddedCluster, OneCommandIdIsOneCommandWhicheverNodeIsAsked) {
  EmbeddingCluster cluster(2);
  for (std::uint32_t n = 1; n <= 2; ++n) cluster.start_bank(n);
  const auto name = cluster.account_on(2, 1);
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(name).ask(Deposit{30}, {.command_id = "txn-1", .timeout = patience})),
            "30");
  EXPECT_EQ(shown(cluster.node(2).get<Bank>(name).ask(Deposit{30}, {.command_id = "txn-1", .timeout = patience})),
            "30 again");
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(name).ask(Deposit{30}, {.command_id = "txn-1", .timeout = patience})),
            "30 again");
  cluster.node(1).get<Bank>(name).passivate();
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(name).ask(Withdraw{40}, {.command_id = "txn-1", .timeout = patience})),
            "30 again");
}

TEST(EmbeddedCluster, StatesSnapshotsAndPassivationWorkFromAnyNode) {
  EmbeddingCluster cluster(3);
  for (std::uint32_t n = 1; n <= 2; ++n) cluster.start_bank(n);
  cluster.start(3);  // hosts nothing: what it asks for is decoded here all the same
  const auto name = cluster.account_on(2, 1);
  GlobalPosition first, last;
  for (int i = 1; i <= 5; ++i) {
    const auto answer = cluster.node(1).get<Bank>(name).ask(Deposit{i}, {.timeout = patience});
    ASSERT_TRUE(answer) << answer.error().what;
    if (i == 1) first = answer.position();
    last = answer.position();
  }
  for (std::uint32_t n = 1; n <= 3; ++n) {
    const auto account = cluster.node(n).get<Bank>(name);
    const auto strict = account.state(StateRead::strict, patience).value();
    EXPECT_EQ(strict.state.balance, 15);
    EXPECT_EQ(strict.version, SeqNr{5});
    EXPECT_EQ(strict.position, last);
    EXPECT_EQ(account.state(StateRead::eventual, patience)->state.balance, 15);
    EXPECT_EQ(patiently([&] { return account.state_at(first); }).value().state.balance, 1);
    EXPECT_EQ(patiently([&] { return account.state_at(last); }).value().version, SeqNr{5});
    EXPECT_TRUE(account.snapshot(patience));
    account.passivate();
  }
  const auto snapshots = patiently([&] { return cluster.node(1).snapshots({"account", name}); }).value();
  ASSERT_FALSE(snapshots.empty());
  EXPECT_EQ(snapshots.front().version, SeqNr{5});
  const auto until = std::chrono::steady_clock::now() + patience;
  while (figure(cluster.node(2), "passivated") < 1 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(5ms);
  EXPECT_GE(figure(cluster.node(2), "passivated"), 1u);
  EXPECT_EQ(shown(cluster.node(3).get<Bank>(name).ask(Look{}, {.timeout = patience})), "15")
      << "who hosts nothing asks all the same";
}

TEST(EmbeddedCluster, DecidesOnOtherAggregatesEventsWhereverTheyAre) {
  EmbeddingCluster cluster(2);
  for (std::uint32_t n = 1; n <= 2; ++n) cluster.start_bank(n);
  const auto here = cluster.account_on(1, 1), there = cluster.account_on(2, 1);
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(here).ask(Book{2}, {.timeout = patience})), "0");
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(there).ask(Book{2}, {.timeout = patience})), "0");
  EXPECT_EQ(shown(cluster.node(2).get<Bank>(here).ask(Book{2}, {.timeout = patience})), "no: full: 2");
  EXPECT_EQ(shown(cluster.node(2).get<Bank>(here).ask(Claim{7}, {.timeout = patience})), "0");
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(there).ask(Claim{7}, {.timeout = patience})), "condition_failed");
}

struct Other {
  static constexpr std::string_view type = "other";
  using State = small::Account;
  using Commands = Types<Deposit>;
  using Events = Types<Deposited>;
  static Effect<Balance> on(const State&, const Deposit& c) {
    return persist(Deposited{c.n}).reply([](const State& state) { return Balance{state.balance}; });
  }
  static void apply(State& state, const Deposited& event) { state.balance += event.n; }
};

TEST(EmbeddedCluster, ANodeThatDoesNotHostTheTypeSaysSo) {
  EmbeddingCluster cluster(2);
  cluster.start_bank(1);
  cluster.start_bank(2);
  ASSERT_TRUE(cluster.node(1).host<Other>());
  const auto name = [&](std::uint32_t owner) {
    for (int i = 0;; ++i)
      if (cluster.node(1).node_of({"other", std::to_string(i)}) == owner) return std::to_string(i);
  };
  static_cast<void>(cluster.account_on(2, 1));
  EXPECT_EQ(shown(cluster.node(2).get<Other>(name(1)).ask(Deposit{3}, {.timeout = patience})), "3")
      << "its own options do not matter";
  EXPECT_EQ(shown(cluster.node(2).get<Other>(name(2)).ask(Deposit{3}, {.timeout = patience})), "invalid_argument");
  const auto refused = cluster.node(1).get<Other>(name(2)).ask(Deposit{3}, {.timeout = patience});
  EXPECT_EQ(shown(refused), "invalid_argument");
  EXPECT_THAT(refused.error().what, testing::HasSubstr("node 2")) << refused.error().what;
}

TEST(EmbeddedCluster, AnswersInTimeWhenTheOwnerIsGone) {
  EmbeddingCluster cluster(2);
  for (std::uint32_t n = 1; n <= 2; ++n) cluster.start_bank(n);
  const auto name = cluster.account_on(2, 1);
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(name).ask(Deposit{1}, {.timeout = patience})), "1");
  cluster.stop(2);
  const auto began = std::chrono::steady_clock::now();
  const auto answer = cluster.node(1).get<Bank>(name).ask(Deposit{1}, {.timeout = 500ms});
  EXPECT_LT(std::chrono::steady_clock::now() - began, 40s) << "3.5 s, and what a machine with other work takes";
  EXPECT_TRUE(answer.failed());
  EXPECT_THAT(shown(answer), testing::AnyOf("unavailable", "timeout"));

  // What waits for it is done when it is back.
  auto waits = cluster.node(1).get<Bank>(name).ask_future(Deposit{1}, {.command_id = "waits", .timeout = patience});
  cluster.start_bank(2);
  EXPECT_THAT(shown(waits.get()), testing::AnyOf("2", "2 again"));
}

TEST(EmbeddedCluster, WhatWaitsForANodeIsBounded) {
  EmbeddingCluster cluster(2);
  auto options = cluster.options(1);
  options.waiting_limit = 2;
  ASSERT_TRUE(cluster.start(1, options).host<Bank>());  // shards are given out when the second node is there
  const auto account = cluster.node(1).get<Bank>("1");
  std::vector<std::future<Answer<Balance>>> answers;
  for (int i = 0; i < 5; ++i) answers.push_back(account.ask_future(Deposit{1}, {.timeout = patience}));
  // Which of them: one that is just being tried again leaves its place to the next.
  const auto ready = [](std::future<Answer<Balance>>& answer) {
    return answer.wait_for(0s) == std::future_status::ready;
  };
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::ranges::count_if(answers, ready) < 3 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(5ms);
  std::erase_if(answers, [&](auto& answer) {
    const bool refused = ready(answer);
    if (refused) {
      EXPECT_EQ(shown(answer.get()), "overloaded");
    }
    return refused;
  });
  ASSERT_EQ(answers.size(), 2u);

  cluster.start_bank(2);
  std::vector<std::string> done{shown(answers[0].get()), shown(answers[1].get())};
  EXPECT_THAT(done, testing::UnorderedElementsAre("1", "2"));
}

TEST(EmbeddedCluster, WhoeverGoesAwayIsToldSoAtOnce) {
  EmbeddingCluster cluster(2);
  ASSERT_TRUE(cluster.start(1).host<Bank>());
  std::promise<std::string> told;
  const auto asking = cluster.node(1).get<Bank>("1").ask_async(
      Deposit{1}, [&](Answer<Balance> answer) { told.set_value(shown(answer)); }, {.timeout = patience});
  asking.cancel();
  asking.cancel();
  EXPECT_EQ(told.get_future().get(), "cancelled");
}

// Every command has an id, and is sent again when nobody knows: its effect is there once.
TEST(EmbeddedCluster, CommandsUnderARestartOfTheirOwnerTakeEffectOnce) {
  EmbeddingCluster cluster(2);
  for (std::uint32_t n = 1; n <= 2; ++n) cluster.start_bank(n);
  const auto name = cluster.account_on(2, 1);
  constexpr int commands = 300, askers = 4;
  std::atomic<int> next{0}, done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < askers; ++t) {
    threads.emplace_back([&] {
      for (int i = next++; i < commands; i = next++) {
        const auto account = cluster.node(1).get<Bank>(name);
        for (int tries = 0; tries < 100; ++tries) {
          if (account.ask(Deposit{1}, {.command_id = "c" + std::to_string(i), .timeout = 10s})) {
            ++done;
            break;
          }
        }
      }
    });
  }
  for (const int at : {60, 160}) {
    while (done < at) std::this_thread::sleep_for(1ms);
    cluster.stop(2);
    cluster.start_bank(2);
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(done, commands);
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(name).ask(Look{}, {.timeout = patience})), std::to_string(commands));
}

TEST(EmbeddedCluster, ClosedItAnswersEverything) {
  EmbeddingCluster cluster(2);
  for (std::uint32_t n = 1; n <= 2; ++n) cluster.start_bank(n);
  const auto name = cluster.account_on(2, 1);
  std::vector<std::future<Answer<Balance>>> answers;
  for (int i = 0; i < 200; ++i)
    answers.push_back(cluster.node(1)
                          .get<Bank>(i % 2 == 0 ? name : "a" + std::to_string(i))
                          .ask_future(Deposit{1}, {.timeout = patience}));
  cluster.node(1).close();
  for (auto& answer : answers) {
    const auto told = answer.get();
    if (told.failed()) {
      EXPECT_THAT(shown(told), testing::AnyOf("unavailable", "timeout"));
    }
  }
  EXPECT_EQ(shown(cluster.node(1).get<Bank>(name).ask(Deposit{1}, {.timeout = patience})), "unavailable");
}

TEST(EmbeddedCluster, RefusesOptionsThatCannotBe) {
  EmbeddingCluster cluster(1);
  const auto code = [](ClusterOptions options) {
    options.coordinator_timeout = 100ms;
    return Cluster::join(std::move(options)).error().code;
  };
  auto options = cluster.options(0);
  EXPECT_EQ(code(options), ErrorCode::invalid_argument);
  options = cluster.options(1);
  options.coordinator = "here";
  EXPECT_EQ(code(options), ErrorCode::invalid_argument);
  options = cluster.options(1);
  options.peers_listen = "127.0.0.1:70000";
  EXPECT_EQ(code(options), ErrorCode::invalid_argument);
  options = cluster.options(1);
  options.secret_file.clear();
  EXPECT_EQ(code(options), ErrorCode::invalid_argument) << "neither secret nor TLS";
  options = cluster.options(1);
  options.peers_listen = "0.0.0.0:0";
  options.peers_address = "here:1";
  EXPECT_EQ(code(options), ErrorCode::invalid_argument) << "other machines without TLS";
  options.peers_insecure = true;
  options.peers_address.clear();
  EXPECT_EQ(code(options), ErrorCode::invalid_argument) << "nobody would find it";
  options = cluster.options(1);
  for (const char* nowhere : {"here:0", "0.0.0.0:7431", "[::]:7431"}) {
    options.peers_address = nowhere;
    EXPECT_EQ(code(options), ErrorCode::invalid_argument) << nowhere;
  }
  options = cluster.options(1);
  options.aggregates.recovery_permits = 0;
  EXPECT_EQ(code(options), ErrorCode::invalid_argument);
  options = cluster.options(1);
  options.coordinator = "127.0.0.1:1";
  EXPECT_EQ(code(options), ErrorCode::unavailable);
}

}  // namespace
}  // namespace evershard
