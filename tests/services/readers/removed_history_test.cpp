// History that is removed while readers of every kind are in the middle of it: each ends up right, and was told.

#include "tests/services/readers/every_reader.hpp"

namespace evershard {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class RemovedHistory : public EveryReader {
 protected:
  /// Of three orders one event each is read; then each has three more, order 1 is removed, order 2 is truncated below
  /// 4, and it goes on.
  void remove_in_the_middle() {
    define();
    for (const auto* id : {"1", "2", "3"}) place(id, 10);
    caught_up();
    given_before_ = worked("all").size() + worked("two").size();
    copied_ = copied().value();
    read_to_ = store().head().value();
    keep_rows();
    for (int i = 1; i <= 3; ++i) {
      for (const auto* id : {"1", "2", "3"}) add(id, i);
    }
    ASSERT_TRUE(store().put_snapshot(snapshot_of("order-2", 3, "state")));
    ASSERT_TRUE(store().retention().truncate_aggregate({"order", "2"}, SeqNr{4}, {}));
    ASSERT_TRUE(store().retention().remove_aggregate({"order", "1"}, {}));
    add("1", 7);
    add("3", 7);
    close();
    give_rows_back(data());
    open();
  }

  cluster::CopyReport copied_;
  GlobalPosition read_to_;
  std::size_t given_before_ = 0;
};

TEST_F(RemovedHistory, ASubscriptionSeesStubsAndNoGap) {
  remove_in_the_middle();
  const auto head = store().head().value();
  auto feed = store().follow(Query::all(), {.after = read_to_});
  std::vector<std::string> seen;
  auto at = read_to_;
  while (at < head) {
    const auto item = feed.next(std::chrono::minutes(1));
    ASSERT_TRUE(item) << item.error().what;
    for (const auto& event : item->events) {
      EXPECT_EQ(event.position, at + 1);
      at = event.position;
      if (event.aggregate->type == "order") seen.push_back(shown(event));
    }
  }
  std::ranges::sort(seen);
  EXPECT_THAT(seen,
              ElementsAre("order-1#2 removed", "order-1#3 removed", "order-1#4 removed", "order-1#5 $AggregateRemoved",
                          "order-1#6 Added", "order-2#2 removed", "order-2#3 removed", "order-2#4 Added",
                          "order-3#2 Added", "order-3#3 Added", "order-3#4 Added", "order-3#5 Added"));
  // Who reads by type is told by the types that say so.
  EXPECT_EQ(
      positions_of(store().read(Query{}.types({"$AggregateRemoved", "$TruncationOrdered", "$RemovalOrdered"}))).size(),
      3u);
}

TEST_F(RemovedHistory, AGroupGivesWhatIsLeftOnceAndWhatSaysSo) {
  remove_in_the_middle();
  EXPECT_EQ(given_before_, 4u);
  EXPECT_THAT(worked("all"), ElementsAre("order-1#5 $AggregateRemoved", "order-1#6 Added", "order-2#4 Added",
                                         "order-3#2 Added", "order-3#3 Added", "order-3#4 Added", "order-3#5 Added"));
  EXPECT_THAT(worked("two"), ElementsAre("$retention-log#1 $TruncationOrdered", "$retention-log#2 $TruncationDone",
                                         "order-2#4 Added"));
}

TEST_F(RemovedHistory, IndexesHaveWhatIsLeftAndStubsWhereTheyAskForTheAggregate) {
  remove_in_the_middle();
  EXPECT_THAT(read_index(index_), ElementsAre("order-1#6 Added", "order-2#4 Added", "order-3#2 Added",
                                              "order-3#3 Added", "order-3#4 Added", "order-3#5 Added"));
  EXPECT_THAT(read_index(around_two_),
              ElementsAre("$retention-log#1 $TruncationOrdered", "$retention-log#2 $TruncationDone",
                          "order-2#1 removed", "order-2#2 removed", "order-2#3 removed", "order-2#4 Added"));
  // A value that was indexed before its event was removed is shown no more.
  EXPECT_THAT(values(), ElementsAre("order-1#6 Added", "order-2#4 Added", "order-3#1 Placed", "order-3#2 Added",
                                    "order-3#3 Added", "order-3#4 Added", "order-3#5 Added"));
  ASSERT_TRUE(store().projections().ask("by-price", Projections::Ask::reset));
  EXPECT_THAT(values(), ElementsAre("order-1#6 Added", "order-2#4 Added", "order-3#1 Placed", "order-3#2 Added",
                                    "order-3#3 Added", "order-3#4 Added", "order-3#5 Added"));
}

TEST_F(RemovedHistory, ATableIsToldByTheRulesThatAskForIt) {
  remove_in_the_middle();
  EXPECT_THAT(totals(),
              ElementsAre(Pair("order-1", "7"), Pair("order-2", "13 truncated below 4"), Pair("order-3", "23")));
  ASSERT_TRUE(store().projections().ask("totals", Projections::Ask::reset));
  EXPECT_THAT(totals(),
              ElementsAre(Pair("order-1", "7"), Pair("order-2", "3 truncated below 4"), Pair("order-3", "23")));
}

TEST_F(RemovedHistory, ADocumentSaysWhatIsNotInIt) {
  remove_in_the_middle();
  const auto expected = [&](const char* two) {
    return ElementsAre(Pair("order-1", R"({"total":7})"), Pair("order-2", two), Pair("order-3", R"({"total":23})"));
  };
  const auto* behind = R"({"total":13} 2 events up to number 3 of the aggregate: removed before they were read here)";
  EXPECT_THAT(documents(DocumentRead::strict), expected(behind)) << "whatever its row is";
  caught_up();
  EXPECT_THAT(documents(DocumentRead::eventual), expected(behind));
  EXPECT_THAT(documents(DocumentRead::strict), expected(behind));
  // Made again, they have even less.
  ASSERT_TRUE(store().documents().define(
      "order",
      R"({"events":{"Placed":{"increment":"total","from":"price"},"Added":{"increment":"total","from":"price"},"Seen":"ignore"}})"));
  const auto* anew = R"({"total":3} 3 events up to number 3 of the aggregate: removed before they were read here)";
  EXPECT_THAT(documents(DocumentRead::strict), expected(anew));
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (documents(DocumentRead::eventual).at("order-2") != anew && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_THAT(documents(DocumentRead::eventual), expected(anew));
}

TEST_F(RemovedHistory, ACopyCountsWhatIsGoneAndGoesOn) {
  remove_in_the_middle();
  EXPECT_EQ(copied_.events_new, 3u);
  const auto report = copied().value();
  EXPECT_EQ(report.events_new, 6u);
  EXPECT_EQ(report.events_gone, 5u);
  std::vector<std::string> there;
  auto stream = target_->read(Query{}.types({"Placed", "Added"}));
  for (const auto& event : stream) there.push_back(shown(event) + " " + event.payload);
  std::ranges::sort(there);
  EXPECT_THAT(there, ElementsAre(R"(order-1#1 Placed {"price":10})", R"(order-1#2 Added {"price":7})",
                                 R"(order-2#1 Placed {"price":10})", R"(order-2#2 Added {"price":3})",
                                 R"(order-3#1 Placed {"price":10})", R"(order-3#2 Added {"price":1})",
                                 R"(order-3#3 Added {"price":2})", R"(order-3#4 Added {"price":3})",
                                 R"(order-3#5 Added {"price":7})"));
}

/// Readers and removals at the same time: whatever each sees, every position is one thing or the other.
TEST_F(RemovedHistory, GoesOnUnderReadersThatAreCatchingUp) {
  define();
  constexpr int orders = 20, events = 60;
  for (int i = 0; i < events; ++i) {
    Append append;
    for (int id = 1; id <= orders; ++id)
      append.event("order-" + std::to_string(id), i == 0 ? "Placed" : "Added", R"({"price":1})");
    ASSERT_TRUE(store().append(append));
  }
  for (const auto& name : {index_, std::string("totals"), std::string("by-price")})
    ASSERT_TRUE(store().projections().ask(name, Projections::Ask::reset));
  const auto all_of_them = store().head().value();
  std::thread remover([&] {
    for (int id = 1; id <= orders; id += 4)
      EXPECT_TRUE(store().retention().remove_aggregate({"order", std::to_string(id)}, {}));
    TruncateOptions options;
    options.uncovered = true;
    for (int id = 2; id <= orders; id += 4)
      EXPECT_TRUE(store().retention().truncate_aggregate({"order", std::to_string(id)}, SeqNr{30}, options));
  });
  auto feed = store().follow(Query::all(), {.page_events_max = 50});
  std::map<std::string, std::uint64_t> seq_nrs;
  GlobalPosition at{};
  while (at < all_of_them) {
    const auto item = feed.next(std::chrono::minutes(1));
    ASSERT_TRUE(item) << item.error().what;
    for (const auto& event : item->events) {
      ASSERT_EQ(event.position, at + 1);
      at = event.position;
      ASSERT_EQ(event.seq_nr.value, ++seq_nrs[event.aggregate->text()]);
      ASSERT_EQ(event.type.empty(), event.state == EventState::removed);
    }
  }
  remover.join();
  caught_up();
  const auto found = totals();
  for (int id = 1; id <= orders; ++id) {
    const auto name = "order-" + std::to_string(id);
    if (id % 4 == 1) {
      EXPECT_FALSE(found.contains(name));
    } else if (id % 4 == 2) {
      EXPECT_THAT(found.at(name), ::testing::EndsWith(" truncated below 30"));
    } else {
      EXPECT_EQ(found.at(name), std::to_string(events));
    }
  }
  ASSERT_TRUE(store().projections().ask(index_, Projections::Ask::reset));
  // Numbers stay, also those of events that are removed by now.
  std::size_t left = 0;
  for (std::uint64_t start = 1; start != 0;) {
    const auto page = store().projections().read_index(
        index_, {.start = start, .limit = 1'000, .rows = {.at_least = store().head().value(), .events = true}});
    ASSERT_TRUE(page) << page.error().what;
    for (const auto& entry : page->entries)
      left += entry.event && entry.event->state == EventState::live && entry.event->type == "Added" ? 1 : 0;
    start = page->entries.empty() ? 0 : page->entries.back().number + 1;
  }
  EXPECT_EQ(left, static_cast<std::size_t>(orders / 2 * (events - 1) + orders / 4 * (events - 29)));
  auto report = store().verify();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->errors, 0u);
}

}  // namespace
}  // namespace evershard
