// Payloads that have a subject, on a cluster whose coordinator has keys: sealed on every disk, and read as they were
// given from every node.

#include <gmock/gmock.h>

#include <evershard/tables.hpp>

#include "tests/cluster/embedded/sealed_orders.hpp"

namespace evershard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_plain(Cluster& node, GlobalPosition last) {
  // Each shard has a node again, and the coordinator lends again.
  std::vector<RecordedEvent> events;
  ASSERT_TRUE(patiently([&]() -> Result<void> {
    events.clear();
    auto stream = node.read(Query{}.tags({"placed"}), {.at_least = last});
    for (const auto& event : stream) events.push_back(event);
    return stream.error() ? Result<void>(refuse(*stream.error())) : Result<void>();
  }));
  EXPECT_EQ(events.size(), 10u);
  for (const auto& event : events) {
    const auto was = placed(event.aggregate->value, std::stoi(event.aggregate->value) % 4 < 2 ? "ada" : "");
    EXPECT_EQ(event.payload, was.payload);
    EXPECT_EQ(event.subject, was.subject);
    EXPECT_EQ(event.format, was.format);
  }
  const auto at = patiently([&] { return node.event_at(GlobalPosition{last}); });
  ASSERT_TRUE(at) << at.error().what;
  EXPECT_THAT(at->payload, HasSubstr(std::string(street)));
  auto feed = node.follow(Query{}.tags({"placed"}));
  const auto page = patiently([&] { return feed.next(sealing_patience); });
  ASSERT_TRUE(page && !page->events.empty());
  EXPECT_THAT(page->events.front().payload, HasSubstr(std::string(street)));
}

TEST(EmbeddedSealing, WhatHasASubjectIsWrittenAtOneNodeAndReadAtAnother) {
  EmbeddingCluster cluster(2, true);
  cluster.start(1);
  cluster.start(2);
  const auto last = place_orders(cluster);
  for (std::uint32_t n : {1u, 2u}) expect_plain(cluster.node(n), last);

  cluster.stop(1);
  cluster.start(1);
  expect_plain(cluster.node(1), last);
  cluster.stop_coordinator();
  cluster.start_coordinator();
  for (std::uint32_t n : {1u, 2u}) expect_plain(cluster.node(n), last);
}

TEST(EmbeddedSealing, NoDiskHasWhatIsSealed) {
  EmbeddingCluster cluster(2, true);
  cluster.start(1);
  cluster.start(2);
  for (int i = 0; i < 8; ++i)
    ASSERT_TRUE(append_patiently(cluster.node(1), Append{}.event(placed(std::to_string(i), "person-ada"))));
  ASSERT_TRUE(patiently([&] {
    return cluster.node(1).put_snapshot(
        {{"order", "1"}, SeqNr{1}, std::string(street), PayloadFormat::text, 1, {}, {}, "person-ada"});
  }));
  for (std::uint32_t n : {1u, 2u}) {
    const auto snapshot = patiently([&] { return cluster.node(n).snapshot({"order", "1"}); });
    ASSERT_TRUE(snapshot && *snapshot);
    EXPECT_EQ((*snapshot)->payload, street);
    EXPECT_EQ((*snapshot)->subject, "person-ada");
    EXPECT_EQ(patiently([&] { return cluster.node(n).snapshots({"order", "1"}); }).value().size(), 1u);
    const auto as_of = patiently([&] { return cluster.node(n).snapshot_as_of({"order", "1"}, GlobalPosition{8}); });
    ASSERT_TRUE(as_of && *as_of);
    EXPECT_EQ((*as_of)->payload, street);
  }
  for (std::uint32_t n : {1u, 2u}) {
    cluster.stop(n);
    for (std::string_view bytes : {street, std::string_view("person-ada")})
      EXPECT_FALSE(on_disk(cluster.options(n).data_dir, bytes)) << n;
  }
  EXPECT_FALSE(on_disk(cluster.keys_dir(), "person-ada"));
}

TEST(EmbeddedSealing, WhatIsMadeOfEventsSeesThemAsTheyWereGiven) {
  EmbeddingCluster cluster(2, true);
  cluster.start(1);
  cluster.start(2);
  for (std::uint32_t n : {1u, 2u})
    ASSERT_TRUE(cluster.node(n).add_table_handler("streets", [](const RecordedEvent& event, TableChanges& rows) {
      rows.upsert({{"order", event.aggregate->text()}, {"payload", event.payload}});
    }));
  // Of each kind as many as there are shards: their homes are at both nodes.
  for (int i = 0; i < 8; ++i) {
    const auto number = std::to_string(i);
    ASSERT_TRUE(patiently([&] {
      return cluster.node(1).projections().create_value_index(
          "by-total-" + number, {.types = {"Placed"}, .path = "$.total", .value = "integer"});
    }));
    ASSERT_TRUE(patiently([&] {
      return cluster.node(2).projections().create(
          "streets-" + number, "table",
          R"({"fields":[{"name":"order","type":"text","role":"key"},{"name":"payload","type":"text"}],"handler":{"name":"streets","revision":1,"query":{"items":[{"types":["Placed"]}]}}})");
    }));
    ASSERT_TRUE(patiently([&] {
      return cluster.node(1).groups().create_group({.name = "mail-" + number, .query = Query{}.types({"Placed"})});
    }));
  }
  ASSERT_TRUE(patiently([&] {
    return cluster.node(1).documents().define("order", R"({"events":{"Placed":{"set":"total","from":"total"}}})");
  }));
  const auto last = place_orders(cluster);

  for (std::uint32_t n : {1u, 2u}) {
    auto& node = cluster.node(n);
    for (int i = 0; i < 8; ++i) {
      const auto values = patiently([&] {
        return node.projections().read_values(
            "by-total-" + std::to_string(i), {.rows = {.at_least = last, .timeout = sealing_patience, .events = true}});
      });
      ASSERT_TRUE(values) << values.error().what;
      ASSERT_EQ(values->entries.size(), 10u);
      EXPECT_THAT(values->entries.front().event->payload, HasSubstr(std::string(street)));
      const auto rows = patiently([&] {
        return node.tables().select("streets-" + std::to_string(i), {},
                                    {.at_least = last, .timeout = sealing_patience});
      });
      ASSERT_TRUE(rows) << rows.error().what;
      ASSERT_EQ(rows->rows.size(), 10u);
      EXPECT_EQ(rows->rows.front().at(1), TableValue(placed("0", "").payload));
    }
    const auto document = patiently(
        [&] { return node.documents().list({.type = "order", .at_least = last, .timeout = sealing_patience}); });
    ASSERT_TRUE(document) << document.error().what;
    ASSERT_EQ(document->documents.size(), 10u);
    EXPECT_EQ(document->documents.front().json, R"({"total":0})");
  }
  for (int i = 0; i < 8; ++i) {
    auto session = patiently([&] {
      return cluster.node(1).groups().open_session("mail-" + std::to_string(i), {.name = "w", .credit = 20}, [] {});
    });
    ASSERT_TRUE(session) << session.error().what;
    std::size_t taken = 0;
    for (const auto until = std::chrono::steady_clock::now() + sealing_patience;
         taken < 10 && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(5ms)) {
      const auto given = (*session)->take(20);
      if (!given) continue;
      for (const auto& delivery : *given)
        EXPECT_EQ(delivery.event.payload, placed(delivery.event.aggregate->value, "").payload);
      taken += given->size();
    }
    EXPECT_EQ(taken, 10u);
    (*session)->leave();
  }
}

TEST(EmbeddedSealing, AggregatesDecideOnWhatIsSealed) {
  EmbeddingCluster cluster(2, true);
  for (std::uint32_t n : {1u, 2u}) ASSERT_TRUE(cluster.start(n).host<SealedBank>());
  const AggregateId account{"account", cluster.account_on(2, 1)};
  auto ada = cluster.node(1).get<SealedBank>(account.value);
  for (int i = 1; i <= 7; ++i)
    EXPECT_EQ(shown(ada.ask(Deposit{10}, {.timeout = sealing_patience})), std::to_string(10 * i));
  cluster.node(1).passivate(account);
  EXPECT_EQ(shown(ada.ask(Look{}, {.timeout = sealing_patience})), "70");
  EXPECT_EQ(patiently([&] { return cluster.node(1).read(account).next(); }).value()->payload, "10");
  EXPECT_EQ(patiently([&] { return cluster.node(1).snapshot(account); }).value()->subject, "ada");

  cluster.stop(2);
  ASSERT_TRUE(cluster.start(2).host<SealedBank>());
  EXPECT_EQ(shown(ada.ask(Deposit{10}, {.timeout = sealing_patience})), "80");
  const auto state =
      patiently([&] { return cluster.node(1).state_bytes(account, StateRead::eventual, sealing_patience); });
  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(state->payload.substr(0, 1), "8");
}

TEST(EmbeddedSealing, ACoordinatorWithoutKeysIsNamed) {
  EmbeddingCluster cluster(1);
  auto& node = cluster.start(1);
  ASSERT_TRUE(patiently([&] { return node.append(Append{}.event(placed("1", ""))); }));

  const auto refused = node.append(Append{}.event(placed("2", "ada")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("`keys`"));
  auto looks_sealed = placed("3", "");
  looks_sealed.format = PayloadFormat::encrypted;
  looks_sealed.payload = "ESK1" + std::string(200, 'x');
  const auto looks = node.append(Append{}.event(looks_sealed));
  ASSERT_FALSE(looks);
  EXPECT_EQ(looks.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(node.head().value(), GlobalPosition{1});
}

TEST(EmbeddedSealing, WhatOnlyLooksSealedIsRefusedAtEveryNode) {
  EmbeddingCluster cluster(2, true);
  cluster.start(1);
  cluster.start(2);
  for (std::uint32_t n : {1u, 2u}) {
    for (int order = 0; order < 8; ++order) {
      auto looks_sealed = placed(std::to_string(order), "");
      looks_sealed.format = PayloadFormat::encrypted;
      looks_sealed.payload = "ESK1" + std::string(200, 'x');
      Result<Appended> refused = refuse(ErrorCode::unavailable, "not tried");
      for (const auto until = std::chrono::steady_clock::now() + sealing_patience;
           !refused && refused.error().code != ErrorCode::invalid_argument && std::chrono::steady_clock::now() < until;
           std::this_thread::sleep_for(5ms))
        refused = cluster.node(n).append(Append{}.event(looks_sealed));
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
      looks_sealed.payload = "my own cipher";
      EXPECT_TRUE(patiently([&] { return cluster.node(n).append(Append{}.event(looks_sealed)); }));
    }
  }
}

// What was lent is over in a moment; what is nobody's needs no keys.
TEST(EmbeddedSealing, WithoutTheCoordinatorWhatIsSealedIsUnavailable) {
  EmbeddingCluster cluster(1, true);
  auto& node = cluster.start(1);
  ASSERT_TRUE(patiently([&] { return node.append(Append{}.event(placed("1", "ada"))); }));
  ASSERT_TRUE(patiently([&] { return node.append(Append{}.event(placed("2", ""))); }));
  cluster.stop_coordinator();

  Result<RecordedEvent> sealed = node.event_at(GlobalPosition{1});
  for (const auto until = std::chrono::steady_clock::now() + sealing_patience;
       sealed && std::chrono::steady_clock::now() < until; sealed = node.event_at(GlobalPosition{1}))
    std::this_thread::sleep_for(20ms);
  ASSERT_FALSE(sealed);
  EXPECT_EQ(sealed.error().code, ErrorCode::unavailable);
  EXPECT_EQ(node.event_at(GlobalPosition{2}).value().payload, placed("2", "").payload);
  EXPECT_EQ(node.append(Append{}.event(placed("3", "ada"))).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace evershard
