// Projections, tables and documents of applications with a node each, over real connections.

#include <gmock/gmock.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include <evershard/tables.hpp>

#include "evershard/cluster/peers/home_links.hpp"
#include "tests/cluster/embedded/embedding_cluster.hpp"

namespace evershard::small {

using PutIn = Number<struct PutInName>;  ///< what a deposit was called
struct PutInName {
  static constexpr std::string_view text = "put_in";
};

struct Purse {
  static constexpr std::string_view type = "purse";
  using State = Account;
  using Commands = Types<Deposit>;
  using Events = Types<Deposited>;
  using OldEvents = Types<PutIn>;
  static Effect<Balance> on(const State&, const Deposit& c) {
    return persist(Deposited{c.n}).reply([](const State& purse) { return Balance{purse.balance}; });
  }
  static void apply(State& purse, const Deposited& e) { purse.balance += e.n; }
  static Deposited upcast(const PutIn& old) { return {old.n}; }
};

}  // namespace evershard::small

namespace evershard {
namespace {

constexpr auto embedded_patience = 60s;

TEST(EmbeddedProjections, AreCreatedAtOneNodeAndReadAtAnother) {
  EmbeddingCluster cluster(2);
  auto& one = cluster.start(1);
  auto& two = cluster.start(2);
  for (auto* node : {&one, &two})
    ASSERT_TRUE(node->add_table_handler("totals", [](const RecordedEvent& event, TableChanges& rows) {
      rows.increment({{"order", event.aggregate->text()}, {"events", 1}});
    }));
  const auto made = patiently([&] { return one.projections().create_index(Query{}.types({"Sold"})); });
  ASSERT_TRUE(made) << made.error().what;
  ASSERT_TRUE(patiently([&] {
    return two.projections().create_value_index("by-total", {.types = {"Sold"}, .path = "$.total", .value = "integer"});
  }));
  const auto table = patiently([&] {
    return one.projections().create(
        "orders", "table",
        R"({"fields":[{"name":"order","type":"text","role":"key"},{"name":"events","type":"integer"}],"handler":{"name":"totals","revision":1,"query":{"items":[{"types":["Sold"]}]}}})");
  });
  ASSERT_TRUE(table) << table.error().what;
  const auto defined = patiently(
      [&] { return one.documents().define("order", R"({"events":{"Sold":{"set":"total","from":"total"}}})"); });
  GlobalPosition last;
  for (int i = 0; i < 30; ++i) {
    auto& by = i % 2 == 0 ? one : two;
    const auto done = append_patiently(
        by, Append{}.event("order-" + std::to_string(i % 5), "Sold", R"({"total":)" + std::to_string(i) + "}"));
    ASSERT_TRUE(done) << done.error().what;
    last = done->last_position;
  }
  for (auto* node : {&one, &two}) {
    const RowsAsked rows{.at_least = last, .timeout = embedded_patience, .events = true};
    const auto index = patiently([&] { return node->projections().read_index(made->name, {.rows = rows}); });
    ASSERT_TRUE(index) << index.error().what;
    EXPECT_EQ(index->entries.size(), 30u);
    EXPECT_EQ(index->entries.back().event->payload, R"({"total":29})");
    const auto values =
        patiently([&] { return node->projections().read_values("by-total", {.from = "25", .rows = rows}); });
    ASSERT_TRUE(values) << values.error().what;
    EXPECT_EQ(values->entries.size(), 5u);
    const auto page = patiently(
        [&] { return node->tables().select("orders", {}, {.at_least = last, .timeout = embedded_patience}); });
    ASSERT_TRUE(page) << page.error().what;
    ASSERT_EQ(page->rows.size(), 5u);
    EXPECT_EQ(page->rows.front().at(1), TableValue(6));
    ASSERT_TRUE(node->wait_for(last, embedded_patience));
    EXPECT_EQ(patiently([&] { return node->projections().list(); }).value().size(), 3u);
    EXPECT_EQ(patiently([&] { return node->tables().list_tables(); }).value().size(), 1u);
    ASSERT_TRUE(defined) << defined.error().what;
    const auto document = patiently([&] { return node->documents().get({"order", "4"}); });
    ASSERT_TRUE(document) << document.error().what;
    EXPECT_EQ(document->json, R"({"total":29})");
    const auto documents = patiently(
        [&] { return node->documents().list({.type = "order", .at_least = last, .timeout = embedded_patience}); });
    EXPECT_EQ(documents.value().documents.size(), 5u);
  }
}

// A node of an older release says of such calls that it does not know their kind: that is the answer, and it is not
// asked again.
TEST(EmbeddedProjections, AnOlderReleaseIsUnavailable) {
  const auto outcome =
      cluster::home_outcome(7, refuse(ErrorCode::invalid_argument, "a node does not answer requests of kind 41"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, cluster::HomeAnswered::Kind::failed);
  EXPECT_EQ(outcome->error.code, ErrorCode::unavailable);
  EXPECT_THAT(outcome->error.what, testing::HasSubstr("node 7"));
  EXPECT_EQ(cluster::home_outcome(7, refuse(ErrorCode::timeout, "lost")).error().code, ErrorCode::timeout);
  EXPECT_EQ(cluster::home_outcome(7, std::string("\xff")).error().code, ErrorCode::timeout)
      << "it was answered, nobody knows what";
}

// A program that hosts an aggregate with old events: whoever reads the new name alone, at any node, would miss them.
TEST(EmbeddedProjections, ThatMissOldEventsAreRefusedWhereTheirAggregateIsHosted) {
  const auto misses = ::testing::AllOf(::testing::HasSubstr("reads events of type \"deposited\""),
                                       ::testing::HasSubstr("the old type \"put_in\""));
  EmbeddingCluster cluster(2);
  std::mutex mutex;
  std::vector<std::string> warned;
  auto told = cluster.options(1);
  told.warn = [&](const Error& why) {
    const std::lock_guard lock(mutex);
    warned.push_back(why.what);
  };
  const auto refused = [&](const char* what, const Result<void>& result) {
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument) << what;
    EXPECT_THAT(result.error().what, misses) << what;
  };
  const auto without_value = [](const auto& result) { return result ? Result<void>() : refuse(result.error()); };
  {
    auto& one = cluster.start(1, told);
    ASSERT_TRUE(one.host<Purse>()) << "the other node, with half of the definitions, is not there yet";
    auto& two = cluster.start(2);
    TypedTableHandler handler;
    handler.on<Deposited>([](const Deposited&, TableChanges&) {});
    const auto by_type = Query{}.types({"deposited"});
    refused("handler", one.add_table_handler("purses", handler));
    refused("index", without_value(one.projections().create_index(by_type)));
    refused("follower", without_value(one.follow(by_type).next(0ms)));
    GroupDefinition group{.name = "purses"};
    group.query = by_type;
    const auto made = patiently([&] { return two.groups().create_group(group); });
    ASSERT_TRUE(made) << made.error().what << ": this program hosts no purse";
    for (const auto until = std::chrono::steady_clock::now() + embedded_patience;
         !two.groups().list_groups() && std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(10ms);
    refused("host", two.host<Purse>());
  }
  cluster.stop(1);
  ASSERT_TRUE(cluster.start(1, told).host<Purse>());
  for (const auto until = std::chrono::steady_clock::now() + embedded_patience;
       std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(10ms)) {
    const std::lock_guard lock(mutex);
    if (std::ranges::any_of(warned, [](const auto& what) { return what.find("put_in") != std::string::npos; })) break;
  }
  const std::lock_guard lock(mutex);
  EXPECT_THAT(warned, ::testing::Contains(misses)) << "the group is defined already, and this node says so";
}

}  // namespace
}  // namespace evershard
