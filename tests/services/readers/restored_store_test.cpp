// A store that was restored to an earlier position, under readers that know what came behind it: noticed, and made anew
// or refused; never mixed.

#include "evershard/api/settled_place.hpp"
#include "evershard/api/sink.hpp"
#include "evershard/local/maintenance.hpp"
#include "tests/services/readers/every_reader.hpp"

namespace evershard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

/// History 1: a price of 10 each, then 1s. It is restored to where the 10s end; history 2 goes on with 5s and an order
/// of its own.
class RestoredStore : public EveryReader {
 protected:
  void read_it_all() {
    define();
    for (const auto* id : {"1", "2", "3"}) place(id, 10);
    parts_ = store().head().value();
    for (int i = 0; i < 10; ++i) {
      for (const auto* id : {"1", "2", "3"}) add(id, 1);
    }
    caught_up();
    (void)worked("all");
    (void)worked("two");
    ASSERT_TRUE(copied());
    keep_rows();
    EXPECT_EQ(totals().at("order-1"), "20");
  }
  /// As an operator does it: a clone that ends where the histories part.
  void restore_to_where_they_part() {
    close();
    ASSERT_TRUE(restore(data(), dir_.path() / "restored", {.up_to = parts_}));
    give_rows_back(dir_.path() / "restored");
    open("restored");
  }
  void go_on() {
    for (const auto* id : {"1", "4"}) add(id, 5);
  }
  void expect_the_second_history() {
    EXPECT_THAT(totals(),
                ElementsAre(Pair("order-1", "15"), Pair("order-2", "10"), Pair("order-3", "10"), Pair("order-4", "5")));
    for (const auto how : {DocumentRead::strict, DocumentRead::eventual}) {
      EXPECT_THAT(documents(how), ElementsAre(Pair("order-1", R"({"total":15})"), Pair("order-2", R"({"total":10})"),
                                              Pair("order-3", R"({"total":10})"), Pair("order-4", R"({"total":5})")));
      caught_up();
    }
    EXPECT_THAT(read_index(index_), ElementsAre("order-1#2 Added", "order-4#1 Added"));
    EXPECT_THAT(read_index(around_two_), ElementsAre("order-2#1 Placed"));
    EXPECT_THAT(values(), ElementsAre("order-1#1 Placed", "order-1#2 Added", "order-2#1 Placed", "order-3#1 Placed",
                                      "order-4#1 Added"));
  }

  GlobalPosition parts_;
};

TEST_F(RestoredStore, RowsThatAreAheadOfItAreMadeAnew) {
  read_it_all();
  restore_to_where_they_part();
  EXPECT_THAT(totals(), ElementsAre(Pair("order-1", "10"), Pair("order-2", "10"), Pair("order-3", "10")));
  go_on();
  expect_the_second_history();
}

/// Its head has passed where the rows of the other history end: they are known by the fork.
TEST_F(RestoredStore, RowsOfTheOtherHistoryAreMadeAnewAlsoWhereItHasGrownPastThem) {
  read_it_all();
  close();
  ASSERT_TRUE(restore(data(), dir_.path() / "restored", {.up_to = parts_}));
  open("restored");
  go_on();
  for (int i = 0; i < 40; ++i) append_one(store(), "other-1", "Noise");
  close();
  give_rows_back(dir_.path() / "restored");
  open("restored");
  expect_the_second_history();
}

/// Its files as they were, put back by hand: the same fork, and rows that are ahead.
TEST_F(RestoredStore, RowsAheadOfFilesThatWerePutBackAreMadeAnew) {
  define();
  for (const auto* id : {"1", "2", "3"}) place(id, 10);
  close();
  std::filesystem::copy(data(), dir_.path() / "earlier", std::filesystem::copy_options::recursive);
  open();
  for (int i = 0; i < 10; ++i) add("1", 1);
  caught_up();
  keep_rows();
  close();
  give_rows_back(dir_.path() / "earlier");
  open("earlier");
  EXPECT_THAT(totals(), ElementsAre(Pair("order-1", "10"), Pair("order-2", "10"), Pair("order-3", "10")));
  go_on();
  expect_the_second_history();
}

TEST_F(RestoredStore, AGroupGivesOutAllOfTheSecondHistory) {
  read_it_all();
  restore_to_where_they_part();
  go_on();
  add("2", 5);
  const auto all = worked("all");
  EXPECT_THAT(all, ::testing::IsSupersetOf({"order-1#2 Added", "order-2#2 Added", "order-4#1 Added"}));
  EXPECT_THAT(worked("two"), ::testing::Contains("order-2#2 Added"));
  EXPECT_THAT(all, ::testing::Not(::testing::Contains("order-3#2 Added"))) << "of the first history";
}

TEST_F(RestoredStore, ACopyIsRefusedAndTakesNothing) {
  read_it_all();
  restore_to_where_they_part();
  go_on();
  const auto refused = copied();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("the source was restored, or is a clone"));
  EXPECT_EQ(target_->read(Query{}.types({"Added"})).next().value()->aggregate->text(), "order-1");
  EXPECT_EQ(positions_of(target_->read(Query{}.types({"Added"}))).size(), 30u) << "nothing came of the second history";
}

/// The same fork, and a head that has passed the checkpoint: only the event at its position tells.
TEST_F(RestoredStore, ACopyAndASinkNoticeFilesThatWerePutBackAndWentAnotherWay) {
  for (const auto* id : {"1", "2", "3"}) place(id, 10);
  close();
  std::filesystem::copy(data(), dir_.path() / "earlier", std::filesystem::copy_options::recursive);
  open();
  for (int i = 0; i < 4; ++i) add("1", 1);
  ASSERT_TRUE(copied());
  const auto info = store().stats().value().info;
  const SinkCheckpoint sunk{info.store_id, info.fork_id, store().head().value(), Epoch{1},
                            store().event_at(store().head().value())->id};
  const auto taken_over = [&] {
    return sink_taken_over(sunk, {info.store_id, info.fork_id, Epoch{2}}, store().head().value(), standing_in(store()));
  };
  EXPECT_TRUE(taken_over());
  open("earlier");
  for (int i = 0; i < 9; ++i) add("2", 5);
  const auto refused = copied();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("the source was put back to an earlier moment"));
  const auto fenced = taken_over();
  ASSERT_FALSE(fenced);
  EXPECT_EQ(fenced.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(fenced.error().what, HasSubstr("where the store has another event"));
}

TEST_F(RestoredStore, AWaitForAPositionOfTheFirstHistoryEnds) {
  read_it_all();
  const auto head = store().head().value();
  restore_to_where_they_part();
  EXPECT_EQ(code_of(store().projections().wait_until("totals", head, std::chrono::milliseconds(20))), "timeout");
  EXPECT_EQ(
      code_of(store().documents().list({.type = "order", .at_least = head, .timeout = std::chrono::milliseconds(20)})),
      "timeout");
}

}  // namespace
}  // namespace evershard
