// Erasure of a subject on a cluster: from any node, for every node, and for those that were away.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "evershard/cluster/embedded/cluster_parts.hpp"
#include "tests/cluster/embedded/sealed_orders.hpp"

namespace evershard {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Of the orders of place_orders().
void expect_erased(Cluster& node, GlobalPosition last) {
  std::vector<RecordedEvent> events;
  const auto read = patiently([&]() -> Result<void> {
    events.clear();
    auto all = node.read(Query{}.types({"Placed"}), {.at_least = last});
    for (const auto& event : all) events.push_back(event);
    return all.error() ? Result<void>(refuse(*all.error())) : Result<void>();
  });
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_EQ(events.size(), 10u);
  for (const auto& event : events) {
    const bool hers = std::stoi(event.aggregate->value) % 4 < 2;
    EXPECT_EQ(event.state, hers ? EventState::erased : EventState::live) << event.aggregate->text();
    EXPECT_EQ(event.payload, hers ? "" : placed(event.aggregate->value, "").payload);
    EXPECT_THAT(event.tags, ElementsAre("placed"));
  }
}

std::vector<std::string> logged(Cluster& node) {
  std::vector<std::string> types;
  const auto log = patiently([&] { return node.retention().retention_log(SeqNr{0}, 100); });
  EXPECT_TRUE(log);
  if (log)
    for (const auto& entry : *log) types.push_back(entry.what);
  return types;
}

/// A node hears of what another one logged a moment later.
void expect_logged(Cluster& node, const std::vector<std::string>& types) {
  for (const auto until = std::chrono::steady_clock::now() + sealing_patience;
       logged(node).size() < types.size() && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(20ms);
  EXPECT_EQ(logged(node), types);
}

/// There is nobody of that name any more.
void expect_nobody(Cluster& node, const std::string& subject) {
  ASSERT_TRUE(patiently([&]() -> Result<void> {
    const auto again = node.retention().erase_subject(subject, {});
    if (!again && again.error().code == ErrorCode::not_found) return {};
    return refuse(again ? Error(ErrorCode::unavailable, "it was there") : again.error());
  }));
}

TEST(EmbeddedErasure, IsForAllNodes) {
  EmbeddingCluster cluster(2, true);
  for (std::uint32_t n : {1u, 2u}) cluster.start(n);
  const auto last = place_orders(cluster);
  ASSERT_TRUE(patiently([&] {
    return cluster.node(1).put_snapshot({{"order", "0"}, SeqNr{1}, "Ada's", PayloadFormat::text, 1, {}, {}, "ada"});
  }));
  for (std::uint32_t n : {1u, 2u})
    EXPECT_EQ(patiently([&] {
                return cluster.node(n).read(AggregateId{"order", "0"}).next();
              })
                  .value()
                  ->subject,
              "ada");
  const auto would = patiently([&] { return cluster.node(2).retention().erase_subject("ada", {.dry_run = true}); });
  ASSERT_TRUE(would) << would.error().what;
  EXPECT_EQ(would->events, 6u);

  const auto erased = patiently(
      [&] { return cluster.node(2).retention().erase_subject("ada", {.by = "dpo", .reason = "article 17"}); });
  ASSERT_TRUE(erased) << erased.error().what;
  EXPECT_EQ(erased->events, 6u);
  EXPECT_FALSE(erased->operation.empty());
  for (std::uint32_t n : {1u, 2u}) {
    expect_erased(cluster.node(n), last);
    EXPECT_EQ(patiently([&] { return cluster.node(n).snapshot({"order", "0"}); }).value(), std::nullopt);
  }
  expect_logged(cluster.node(1), {"$ErasureOrdered", "$ErasureDone"});
  expect_nobody(cluster.node(1), "ada");

  // The same subject later begins anew.
  ASSERT_TRUE(patiently([&] { return cluster.node(1).append(Append{}.event(placed("100", "ada"))); }));
  EXPECT_EQ(patiently([&] {
              return cluster.node(2).read(AggregateId{"order", "100"}).next();
            })
                .value()
                ->payload,
            placed("100", "").payload);
  for (std::uint32_t n : {1u, 2u}) cluster.stop(n);
}

TEST(EmbeddedErasure, ACoordinatorWithoutKeysIsNamed) {
  EmbeddingCluster cluster(1);
  auto& node = cluster.start(1);
  ASSERT_TRUE(patiently([&] { return node.append(Append{}.event(placed("1", ""))); }));
  const auto refused = node.retention().erase_subject("ada", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument) << refused.error().what;
  EXPECT_THAT(refused.error().what, HasSubstr("`keys`"));
}

TEST(EmbeddedErasure, LiveAggregatesForget) {
  EmbeddingCluster cluster(2, true);
  for (std::uint32_t n : {1u, 2u}) ASSERT_TRUE(cluster.start(n).host<SealedBank>());
  const AggregateId account{"account", cluster.account_on(2, 1)};
  auto ada = cluster.node(1).get<SealedBank>(account.value);
  for (int i = 1; i <= 4; ++i)
    EXPECT_EQ(shown(ada.ask(Deposit{10}, {.timeout = sealing_patience})), std::to_string(10 * i));

  const auto erased = patiently([&] { return cluster.node(1).retention().erase_subject("ada", {}); });
  ASSERT_TRUE(erased) << erased.error().what;

  EXPECT_EQ(shown(ada.ask(Look{}, {.timeout = sealing_patience})), "not_found");
}

// No node is told, and the work does not reach them: what live aggregates have in memory is not written under the
// subject's next key.
TEST(EmbeddedErasure, NoSnapshotOfWhatIsErasedIsReadable) {
  EmbeddingCluster cluster(2, true);
  for (std::uint32_t n : {1u, 2u}) ASSERT_TRUE(cluster.start(n).host<SealedBank>());
  const AggregateId account{"account", cluster.account_on(2, 1)};
  auto ada = cluster.node(1).get<SealedBank>(account.value);
  for (int i = 1; i <= 2; ++i)
    EXPECT_EQ(shown(ada.ask(Deposit{10}, {.timeout = sealing_patience})), std::to_string(10 * i));
  cluster.stop_coordinator();
  cluster.destroy_key_of("ada");
  std::this_thread::sleep_for(2 * EmbeddingCluster::key_lease);  // what is sealed until then is erased with it
  cluster.start_coordinator();

  // With the third a snapshot is due.
  auto answered = shown(ada.ask(Deposit{10}, {.timeout = sealing_patience}));
  for (const auto until = std::chrono::steady_clock::now() + sealing_patience;
       answered != "not_found" && std::chrono::steady_clock::now() < until;
       answered = shown(ada.ask(Deposit{10}, {.timeout = sealing_patience}))) {
    ASSERT_THAT(answered, AnyOf("unavailable", "timeout"));
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(answered, "not_found");
  const auto snapshot = patiently([&] { return cluster.node(2).snapshot(account); });
  ASSERT_TRUE(snapshot) << snapshot.error().what;
  EXPECT_EQ(*snapshot, std::nullopt);
}

// It only looks, and nothing is to be sealed: the node hears of it when it has its coordinator again.
TEST(EmbeddedErasure, LiveAggregatesForgetWhenTheCoordinatorIsThereAgain) {
  EmbeddingCluster cluster(1, true);
  ASSERT_TRUE(cluster.start(1).host<SealedBank>());
  const AggregateId account{"account", cluster.account_on(1, 1)};
  auto ada = cluster.node(1).get<SealedBank>(account.value);
  EXPECT_EQ(shown(ada.ask(Deposit{10}, {.timeout = sealing_patience})), "10");
  cluster.stop_coordinator();
  cluster.destroy_key_of("ada");
  EXPECT_EQ(shown(ada.ask(Look{}, {.timeout = sealing_patience})), "10");
  cluster.start_coordinator();

  auto answered = shown(ada.ask(Look{}, {.timeout = sealing_patience}));
  for (const auto until = std::chrono::steady_clock::now() + sealing_patience;
       answered != "not_found" && std::chrono::steady_clock::now() < until;
       answered = shown(ada.ask(Look{}, {.timeout = sealing_patience})))
    std::this_thread::sleep_for(20ms);
  EXPECT_EQ(answered, "not_found");
}

// Its key is gone for it too; its records are rewritten by the next one.
TEST(EmbeddedErasure, ANodeThatIsAwayIsDoneLater) {
  EmbeddingCluster cluster(2, true);
  for (std::uint32_t n : {1u, 2u}) cluster.start(n);
  const auto last = place_orders(cluster);
  for (std::uint32_t n : {1u, 2u}) EXPECT_TRUE(cluster.node(n).wait_for(last, sealing_patience));
  const std::uint32_t log_at = cluster.node(1).node_of({"$retention", "log"});
  const std::uint32_t away = log_at == 1 ? 2 : 1;
  const auto folder = cluster.options(away).data_dir;
  cluster.stop(away);
  std::filesystem::copy(folder, folder.string() + "-copy", std::filesystem::copy_options::recursive);

  auto& here = cluster.node(log_at);
  auto erased = here.retention().erase_subject("ada", {});
  for (const auto until = std::chrono::steady_clock::now() + sealing_patience;
       !erased && erased.error().code != ErrorCode::not_found && std::chrono::steady_clock::now() < until;
       erased = here.retention().erase_subject("ada", {})) {
    EXPECT_THAT(erased.error().code, AnyOf(ErrorCode::unavailable, ErrorCode::timeout)) << erased.error().what;
    if (logged(here).size() == 1) break;
  }
  EXPECT_THAT(logged(here), ElementsAre("$ErasureOrdered"));

  cluster.start(away);
  expect_erased(cluster.node(away), last);
  expect_erased(here, last);
  // Finished by whoever comes: it is erased already.
  expect_nobody(cluster.node(away), "ada");
  expect_logged(here, {"$ErasureOrdered", "$ErasureDone"});
  expect_erased(cluster.node(away), last);

  // A copy of its disk from before has it erased too.
  cluster.stop(away);
  std::filesystem::remove_all(folder);
  std::filesystem::rename(folder.string() + "-copy", folder);
  cluster.start(away);
  expect_erased(cluster.node(away), last);
  expect_erased(here, last);
}

TEST(EmbeddedErasure, WhatIsUnderWayIsErasedWithItOrStays) {
  EmbeddingCluster cluster(2, true);
  for (std::uint32_t n : {1u, 2u}) cluster.start(n);
  place_orders(cluster);
  std::atomic<bool> enough{false};
  std::atomic<int> written{0};
  std::vector<std::thread> writers;
  for (std::uint32_t n : {1u, 2u})
    writers.emplace_back([&, n] {
      for (int i = 0; !enough; ++i)
        if (cluster.node(n).append(
                Append{}.event(placed(std::to_string(1'000 * n + static_cast<std::uint32_t>(i)), "ada"))))
          ++written;
    });
  for (int rounds = 1; rounds <= 3; ++rounds) {
    while (written < 20 * rounds) std::this_thread::sleep_for(1ms);
    const auto erased = patiently(
        [&] { return cluster.node(1 + static_cast<std::uint32_t>(rounds) % 2).retention().erase_subject("ada", {}); });
    ASSERT_TRUE(erased) << erased.error().what;
  }
  enough = true;
  for (auto& writer : writers) writer.join();
  for (std::uint32_t n : {1u, 2u}) {
    int erased = 0;
    const auto read = patiently([&]() -> Result<void> {
      erased = 0;
      auto all = cluster.node(n).read(Query{}.types({"Placed"}));
      for (const auto& event : all) {
        if (event.state == EventState::erased) {
          ++erased;
        } else {
          EXPECT_EQ(event.payload, placed(event.aggregate->value, "").payload);
        }
      }
      return all.error() ? Result<void>(refuse(*all.error())) : Result<void>();
    });
    EXPECT_TRUE(read) << read.error().what;
    EXPECT_GE(erased, 40);
  }
}

/// A group at home on node 1, whose worker has one event, and another one was read that lies on node 2.
class EmbeddedGroup {
 public:
  EmbeddedGroup(EmbeddingCluster& cluster, const std::string& subject) : cluster_(cluster) {
    static_cast<void>(cluster.account_on(2, 1));  // waits until both have shards
    while (cluster.node(1).node_of({"$group", name_}) != 1) name_ += "g";
    gone = at_two("gone");
    kept = at_two("kept");
    place(at_two("first"), {});
    place(gone, subject);
    GroupDefinition definition{.name = name_, .query = Query{}.types({"Placed"}), .after = GlobalPosition{0}};
    EXPECT_TRUE(patiently([&] { return groups().create_group(definition); }));
    worker_.emplace(patiently([&] { return groups().join_group(name_, {.name = "w", .credit = 1}); }).value());
    given_ = next();
    EXPECT_EQ(given_.event.aggregate->type, "first");
    const auto until = std::chrono::steady_clock::now() + sealing_patience;
    const auto unsettled = [&] { return patiently([&] { return groups().group(name_); }).value().unsettled; };
    while (unsettled() != 2 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(10ms);
    EXPECT_EQ(unsettled(), 2u) << "the home has read the other one too";
  }
  void place(const AggregateId& aggregate, const std::string& subject) {
    Event event;
    event.aggregate = aggregate;
    event.type = "Placed";
    event.payload = R"({"to":"Ada"})";
    event.subject = subject;
    const auto done = append_patiently(cluster_.node(1), Append{}.event(event));
    ASSERT_TRUE(done) << done.error().what;
  }
  RecordedEvent after_the_first() {
    EXPECT_TRUE(worker_->acknowledge(given_));
    return next().event;
  }

  AggregateId gone, kept;

 private:
  [[nodiscard]] Groups& groups() { return cluster_.node(1).groups(); }
  [[nodiscard]] AggregateId at_two(const std::string& type) {
    for (int i = 0;; ++i)
      if (AggregateId id{type, std::to_string(i)}; cluster_.node(1).node_of(id) == 2) return id;
  }
  GroupDelivery next() {
    auto next = worker_->next(sealing_patience);
    EXPECT_TRUE(next && *next);
    return next && *next ? **next : GroupDelivery{};
  }

  EmbeddingCluster& cluster_;
  std::string name_ = "g";
  std::optional<GroupWorker> worker_;
  GroupDelivery given_;
};

// The group's home keeps no replica of that shard, and has read the event before.
TEST(EmbeddedErasure, WhatIsRemovedOnAnotherNodeIsNotGivenOutByAGroup) {
  EmbeddingCluster cluster(2);
  for (std::uint32_t n : {1u, 2u}) cluster.start(n);
  EmbeddedGroup group(cluster, {});
  const auto gone = patiently([&] { return cluster.node(2).retention().remove_aggregate(group.gone, {}); });
  ASSERT_TRUE(gone) << gone.error().what;
  group.place(group.kept, {});
  EXPECT_EQ(group.after_the_first().aggregate->text(), group.kept.text());
}

// Nor does the home still have the key by which it opened the event.
TEST(EmbeddedErasure, WhatIsErasedIsNotGivenOutByAGroup) {
  EmbeddingCluster cluster(2, true);
  for (std::uint32_t n : {1u, 2u}) cluster.start(n);
  EmbeddedGroup group(cluster, "ada");
  std::this_thread::sleep_for(2 * EmbeddingCluster::key_lease);
  const auto erased = patiently([&] { return cluster.node(2).retention().erase_subject("ada", {}); });
  ASSERT_TRUE(erased) << erased.error().what;
  const auto given = group.after_the_first();
  EXPECT_EQ(given.aggregate->text(), group.gone.text());
  EXPECT_EQ(given.state, EventState::erased);
  EXPECT_EQ(given.payload, "");
}

}  // namespace
}  // namespace evershard
