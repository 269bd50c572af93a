// What both stores promise; see also store_seal_contract_test.cpp.

#include "tests/contract/store_contract.hpp"

#include <gmock/gmock.h>

#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_P(StoreContract, IsEmptyWhenItIsNew) {
  open();

  auto recovered = store().recovered();

  EXPECT_EQ(recovered.watermark, GlobalPosition{0});
  EXPECT_EQ(recovered.last_cut, CutNumber{0});
  EXPECT_THAT(recovered.shards, SizeIs(4));
  EXPECT_EQ(store().view().watermark, GlobalPosition{0});
  EXPECT_THAT(everything(store()), IsEmpty());
}

TEST_P(StoreContract, ShowsABatchOfSeveralShardsWholeAndInOrder) {
  open();

  ASSERT_TRUE(writer().commit(
      {Append().event("order-1", "placed", "a").event("order-2", "placed", "b").event("order-3", "placed", "c"),
       one("order-1", "paid", "d", {"by:card"})}));

  auto events = everything(store());
  EXPECT_THAT(payloads_of(events), ElementsAre("a", "b", "c", "d"));
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].position, GlobalPosition{i + 1});
  EXPECT_THAT(payloads_of(stream_of(store(), "order-1")), ElementsAre("a", "d"));
  EXPECT_THAT(payloads_of(matching(store(), Query().tags({"by:card"}))), ElementsAre("d"));
  EXPECT_EQ(store().view().watermark, GlobalPosition{4});
}

TEST_P(StoreContract, ShowsNothingOfABatchThatIsOnlyStaged) {
  open();
  ASSERT_TRUE(writer().commit({one("order-1", "placed", "a")}));
  auto batch = writer().prepare({one("order-1", "paid", "b"), one("order-2", "placed", "c")});

  auto staged = store().stage(batch->commit);

  EXPECT_THAT(payloads_of(everything(store())), ElementsAre("a"));
  EXPECT_THAT(payloads_of(stream_of(store(), "order-1")), ElementsAre("a"));
  ASSERT_TRUE(store().commit(*staged));
  EXPECT_THAT(payloads_of(everything(store())), ElementsAre("a", "b", "c"));
}

TEST_P(StoreContract, StagesAheadOfCommit) {
  open();
  std::vector<std::unique_ptr<PreparedBatch>> batches;
  std::vector<std::unique_ptr<StagedCommit>> staged;
  for (int i = 0; i < 3; ++i) {
    batches.push_back(
        writer().prepare({one("order-1", "placed", std::to_string(i)), one("order-2", "placed", std::to_string(i))}));
    staged.push_back(store().stage(batches.back()->commit));
  }

  for (std::size_t i = 0; i < staged.size(); ++i) {
    ASSERT_TRUE(store().commit(*staged[i]));
    EXPECT_EQ(store().view().watermark, GlobalPosition{2 * (i + 1)});
  }

  EXPECT_THAT(payloads_of(everything(store())), ElementsAre("0", "0", "1", "1", "2", "2"));
}

TEST_P(StoreContract, FailsForGoodWhenAStagedCommitIsGivenUp) {
  open();
  auto first = writer().prepare({one("order-1", "placed", "a")});
  auto second = writer().prepare({one("order-1", "paid", "b")});
  auto given_up = store().stage(first->commit);
  auto staged = store().stage(second->commit);

  given_up.reset();

  EXPECT_EQ(store().admission().kind, Admission::Kind::failed);
  EXPECT_THAT(everything(store()), IsEmpty());
  EXPECT_TRUE(store().seal());  // nothing is durable, nothing to seal
  store().close();
}

TEST_P(StoreContract, SplitsTheRecordsOfALargeCommit) {
  auto small = options();
  small.record_bytes = 1'000;
  open(small);
  Append append;
  std::vector<std::string> expected;
  for (int i = 0; i < 200; ++i) {
    expected.push_back(std::to_string(i) + std::string(i % 50 == 0 ? 5'000 : 60, 'x'));
    append.event("order-1", "placed", expected.back());
  }

  ASSERT_TRUE(writer().commit({std::move(append)}));

  auto events = everything(store());
  EXPECT_EQ(payloads_of(events), expected);
  std::size_t records = 0, longest = 0;
  auto journal = store().rows().cursor(Family::journal);
  for (journal->seek({}); journal->valid(); journal->next(), ++records)
    longest = std::max(longest, journal->value().size());
  EXPECT_GE(records, 15u);
  EXPECT_LT(longest, 6'500u);
}

TEST_P(StoreContract, WritesDeletesAndKeepsStateRows) {
  open();
  auto first = writer().prepare({one("order-1", "placed", "a")});
  first->commit.state = {{keys::checkpoint("a"), "1"}, {keys::checkpoint("b"), "2"}};
  auto staged = store().stage(first->commit);
  ASSERT_TRUE(store().commit(*staged));

  auto second = writer().prepare({});
  second->commit.state = {{keys::checkpoint("a"), std::nullopt}, {keys::checkpoint("b"), "3"}};
  staged = store().stage(second->commit);
  ASSERT_TRUE(store().commit(*staged));

  auto a = keys::checkpoint("a"), b = keys::checkpoint("b");
  std::string_view wanted[] = {a, b};
  auto rows = store().rows().get(Family::state, wanted).value();
  EXPECT_FALSE(rows->found(0));
  ASSERT_TRUE(rows->found(1));
  EXPECT_EQ(rows->value(1), "3");
  EXPECT_EQ(store().view().watermark, GlobalPosition{1});
}

TEST_P(StoreContract, WalksRowsBothWays) {
  open();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(writer().commit({one("order-1", "placed", "a"), one("order-1", "paid", "b")}));

  auto order = store().rows().cursor(Family::order);

  order->seek(keys::order(GlobalPosition{2}));
  ASSERT_TRUE(order->valid());
  EXPECT_EQ(order->key(), keys::order(GlobalPosition{3}));
  order->next();
  EXPECT_EQ(order->key(), keys::order(GlobalPosition{5}));
  order->next();
  EXPECT_FALSE(order->valid());
  EXPECT_TRUE(order->status());
  order->seek_for_prev(keys::order(GlobalPosition{4}));
  EXPECT_EQ(order->key(), keys::order(GlobalPosition{3}));
  order->prev();
  EXPECT_EQ(order->key(), keys::order(GlobalPosition{1}));
  order->prev();
  EXPECT_FALSE(order->valid());
}

TEST_P(StoreContract, KeepsEventsApartWhoseTermsAreTheSame) {
  auto narrow = options();
  narrow.term_mask = 3;
  open(narrow);
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(writer().commit({one("order-" + std::to_string(i % 8), "type" + std::to_string(i % 4),
                                     std::to_string(i), {"tag:" + std::to_string(i % 5)})}));

  for (bool sealed : {false, true}) {
    if (sealed) {
      ASSERT_TRUE(store().seal());
    }
    EXPECT_THAT(payloads_of(stream_of(store(), "order-3")), ElementsAre("3", "11", "19", "27", "35"));
    EXPECT_THAT(payloads_of(matching(store(), Query().types({"type1"}).tags({"tag:0"}))), ElementsAre("5", "25"));
    EXPECT_THAT(matching(store(), Query().tags({"tag:9"})), IsEmpty());
  }
}

TEST_P(StoreContract, HasNothingToReadOnceItIsClosed) {
  open();
  ASSERT_TRUE(writer().commit({one("order-1", "placed", "a")}));
  auto cursor = store().rows().cursor(Family::order);
  cursor->seek({});

  store().close();
  store().close();

  EXPECT_TRUE(cursor->valid());  // what is out stays usable
  std::string_view wanted[] = {"x"};
  EXPECT_FALSE(store().rows().get(Family::state, wanted));
  EXPECT_FALSE(store().rows().cursor(Family::order)->status());
  EXPECT_EQ(store().admission().kind, Admission::Kind::failed);
  EXPECT_FALSE(store().seal());
}

TEST_P(StoreContract, RefusesSizesThatCannotBe) {
  auto bad = options();
  bad.tail_events = 0;
  auto many = options();
  many.shards = 65'536;

  EXPECT_EQ(open_store(bad).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(open_store(many).error().code, ErrorCode::invalid_argument);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::Values(StoreKind{"memory", false}, StoreKind{"rocks", true}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace evershard::storage
