// Snapshots: which copies a store keeps. Both stores.

#include "tests/contract/store_contract.hpp"

#include <gmock/gmock.h>

namespace evershard::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const AggregateId order_1{"order", "1"};
constexpr Timestamp long_ago{1'000'000};

Snapshot snapshot(std::string payload, std::optional<std::uint32_t> keep = std::nullopt) {
  Snapshot snapshot;
  snapshot.aggregate = order_1;
  snapshot.payload = std::move(payload);
  snapshot.keep = keep;
  return snapshot;
}

Append with_snapshot(Snapshot taken) { return one("order-1", "placed", "e").snapshot(std::move(taken)); }

std::vector<std::uint64_t> retained_versions(const Store& store) {
  std::vector<std::uint64_t> versions;
  auto copies = Reader(store).snapshots(order_1, long_ago);
  for (const auto& copy : copies.value())
    if (!copy.latest) versions.push_back(copy.version.value);
  return versions;
}

TEST_P(StoreContract, KeepsTheLatestSnapshotWithItsVersionAndPosition) {
  open();
  ASSERT_TRUE(writer().commit({one("order-2", "placed", "x"), with_snapshot(snapshot("s1"))}));

  ASSERT_TRUE(writer().commit({one("order-1", "placed", "e")
                                   .event("order-2", "placed", "y")
                                   .event("order-1", "placed", "f")
                                   .snapshot(snapshot("s3"))}));

  auto latest = Reader(store()).latest_snapshot(order_1).value();
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->payload, "s3");
  EXPECT_EQ(latest->version, SeqNr{3});
  EXPECT_EQ(latest->position, GlobalPosition{5});
  EXPECT_THAT(retained_versions(store()), IsEmpty());
}

TEST_P(StoreContract, RetainsTheNewestCopiesAndRemovesTheOldest) {
  open();
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(writer().commit({with_snapshot(snapshot("s" + std::to_string(i), 3))}));

  EXPECT_THAT(retained_versions(store()), ElementsAre(5, 4, 3));
  ASSERT_TRUE(writer().commit({with_snapshot(snapshot("s6"))}));  // off: what is there stays
  EXPECT_THAT(retained_versions(store()), ElementsAre(5, 4, 3));
  ASSERT_TRUE(writer().commit({with_snapshot(snapshot("s7", 1))}));
  EXPECT_THAT(retained_versions(store()), ElementsAre(7));
  ASSERT_TRUE(writer().commit({with_snapshot(snapshot("s8", 0))}));
  EXPECT_THAT(retained_versions(store()), IsEmpty());
  EXPECT_EQ(Reader(store()).latest_snapshot(order_1).value()->payload, "s8");
}

TEST_P(StoreContract, RetainsTheSameCopiesWhenCommitsAreStagedAhead) {
  open();
  std::vector<std::unique_ptr<PreparedBatch>> batches;
  std::vector<std::unique_ptr<StagedCommit>> staged;
  for (int i = 1; i <= 4; ++i) {
    batches.push_back(writer().prepare(
        {with_snapshot(snapshot("s" + std::to_string(i), 2)), with_snapshot(snapshot("t" + std::to_string(i), 2))}));
    staged.push_back(store().stage(batches.back()->commit));
  }

  for (auto& one_staged : staged) ASSERT_TRUE(store().commit(*one_staged));

  EXPECT_THAT(retained_versions(store()), ElementsAre(8, 7));
  EXPECT_EQ(Reader(store()).latest_snapshot(order_1).value()->payload, "t4");
}

TEST_P(StoreContract, RemovesExpiredCopiesAndNeverTheLatest) {
  open();
  auto expiring = snapshot("s1", 5);
  expiring.ttl = std::chrono::seconds(-1);
  ASSERT_TRUE(writer().commit({with_snapshot(expiring)}));
  ASSERT_TRUE(writer().commit({one("order-1", "paid", "e")}));
  ASSERT_EQ(Reader(store()).latest_snapshot(order_1).value()->payload, "s1");

  ASSERT_TRUE(writer().commit({with_snapshot(snapshot("s3", 5))}));

  EXPECT_THAT(retained_versions(store()), ElementsAre(3));
}

TEST_P(StoreContract, DoesNotReplaceTheLatestSnapshotByAnOlderOneWrittenAlone) {
  open();
  ASSERT_TRUE(writer().commit({one("order-1", "placed", "e"), with_snapshot(snapshot("s2"))}));
  auto batch = writer().prepare({});
  auto older = snapshot("s1", 2);
  older.version = SeqNr{1};
  batch->commit.snapshots.push_back({older, GlobalPosition{1}});

  auto staged = store().stage(batch->commit);
  ASSERT_TRUE(store().commit(*staged));

  EXPECT_EQ(Reader(store()).latest_snapshot(order_1).value()->payload, "s2");
  EXPECT_EQ(Reader(store()).snapshot_as_of(order_1, GlobalPosition{1}, long_ago).value()->payload, "s1");
}

}  // namespace
}  // namespace evershard::storage
