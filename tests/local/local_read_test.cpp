// Local: reading everything, by query, one aggregate; bounds, pages, cancelling, closing.

#include <atomic>
#include <thread>

#include "evershard/api/page_forms.hpp"
#include "evershard/protocol/codec.hpp"
#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

LocalOptions small_pages() {
  LocalOptions options;
  options.tail_events = 64;
  options.limits.page_events_max = 3;
  return options;
}

TEST(LocalRead, GivesEverythingInOrderBothWays) {
  auto store = open_store(small_pages());
  append_many(store, 1, 8);

  EXPECT_THAT(positions_of(store.read(Query::all())), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(positions_of(store.read(Query::all(), {.direction = Direction::backwards})),
              ElementsAre(7, 6, 5, 4, 3, 2, 1));
}

TEST(LocalRead, KeepsToItsBoundsBothWays) {
  auto store = open_store(small_pages());
  append_many(store, 1, 12);
  const ReadOptions forwards{.after = GlobalPosition{2}, .before = GlobalPosition{9}, .limit = 4};
  ReadOptions backwards = forwards;
  backwards.direction = Direction::backwards;

  EXPECT_THAT(positions_of(store.read(Query::all(), forwards)), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(positions_of(store.read(Query::all(), backwards)), ElementsAre(8, 7, 6, 5));
  EXPECT_THAT(
      positions_of(store.read(Query{}.tags({"even"}), {.after = GlobalPosition{4}, .up_to = GlobalPosition{8}})),
      ElementsAre(6, 8));
  EXPECT_THAT(positions_of(store.read(Query::all(), {.after = GlobalPosition{99}})), IsEmpty());
}

TEST(LocalRead, WithLimitZeroReadsNothingAndWithoutLimitReadsAll) {
  auto store = open_store(small_pages());
  append_many(store, 1, 20);

  EXPECT_THAT(positions_of(store.read(Query::all(), {.limit = 0})), IsEmpty());
  EXPECT_THAT(positions_of(store.read("n-3", {.limit = 0})), IsEmpty());
  EXPECT_THAT(positions_of(store.read(Query::all())), SizeIs(19));
}

TEST(LocalRead, GivesMatchesOfSeveralItemsOnce) {
  auto store = open_store(small_pages());
  append_one(store, "a-1", "A", {"x"});
  append_one(store, "a-2", "B", {"x", "y"});
  append_one(store, "a-3", "A", {"y"});
  append_one(store, "a-4", "C", {"x", "y", "z"});

  EXPECT_THAT(positions_of(store.read(Query{}.types({"A", "B"}).or_().tags({"x", "y"}))), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(positions_of(store.read(Query{}.types({"A", "C"}).tags({"x"}))), ElementsAre(1, 4));
  EXPECT_THAT(positions_of(store.read(Query{}.tags({"x", "y", "x"}))), ElementsAre(2, 4));
}

TEST(LocalRead, FindsWhatConcernsAnAggregate) {
  auto store = open_store(small_pages());
  append_one(store, "customer-7", "Registered");
  Event transfer;
  transfer.aggregate = AggregateId{"account", "1"};
  transfer.type = "Transferred";
  transfer.also = {{"customer", "7"}};
  ASSERT_TRUE(store.append(Append{}.event(transfer)));
  append_one(store, "customer-8", "Registered");

  EXPECT_THAT(positions_of(store.read(Query{}.concerning({{"customer", "7"}}))), ElementsAre(1, 2));
  EXPECT_THAT(positions_of(store.read("customer-7")), ElementsAre(1));
}

TEST(LocalRead, GivesOneAggregateFromAnyVersionBothWays) {
  auto store = open_store(small_pages());
  for (int i = 0; i < 9; ++i) {
    append_one(store, "order-1", "T");
    append_one(store, "order-2", "T");
  }

  EXPECT_THAT(positions_of(store.read("order-1", {.from = SeqNr{4}, .limit = 4})), ElementsAre(7, 9, 11, 13));
  EXPECT_THAT(positions_of(store.read("order-2", {.from = SeqNr{4}, .direction = Direction::backwards})),
              ElementsAre(8, 6, 4, 2));
  EXPECT_THAT(positions_of(store.read("order-2", {.direction = Direction::backwards})),
              ElementsAre(18, 16, 14, 12, 10, 8, 6, 4, 2));
  EXPECT_THAT(positions_of(store.read("order-1", {.up_to = GlobalPosition{6}})), ElementsAre(1, 3, 5));
  EXPECT_THAT(positions_of(store.read("order-3")), IsEmpty());
}

TEST(LocalRead, SeesNothingThatIsAppendedAfterItBegan) {
  auto store = open_store(small_pages());
  append_many(store, 1, 11);
  auto stream = store.read(Query::all());
  ASSERT_TRUE(stream.next());

  append_many(store, 11, 200);  // seals twice meanwhile

  EXPECT_THAT(positions_of(std::move(stream)), ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(LocalRead, GoesOnWithAFreshViewWhenItsCursorWasLetGo) {
  auto store = open_store(small_pages());
  append_many(store, 1, 101);
  auto forwards = store.read(Query{}.tags({"even"}));
  auto backwards = store.read(Query::all(), {.limit = 50, .direction = Direction::backwards});
  for (int i = 0; i < 4; ++i) append_one(store, "order-1", "T");
  auto stream = store.read("order-1");
  auto stream_backwards = store.read("order-1", {.direction = Direction::backwards});
  ASSERT_TRUE(forwards.next_page() && backwards.next_page() && stream.next_page() && stream_backwards.next_page());

  std::this_thread::sleep_for(2'200ms);
  append_many(store, 101, 200);

  auto next = forwards.next_page();
  EXPECT_THAT(positions_of(next->events), ElementsAre(8, 10, 12));
  EXPECT_THAT(positions_of(std::move(forwards)), SizeIs(44)) << "50 even ones, two pages gone";
  EXPECT_THAT(positions_of(std::move(backwards)), SizeIs(47));
  EXPECT_THAT(positions_of(std::move(stream)), ElementsAre(104));
  EXPECT_THAT(positions_of(std::move(stream_backwards)), ElementsAre(101));
}

TEST(LocalRead, TellsItsWatermarkWithEveryPage) {
  auto store = open_store(small_pages());
  append_many(store, 1, 6);
  auto stream = store.read(Query{}.tags({"none"}));

  const auto page = stream.next_page();
  append_many(store, 6, 9);

  ASSERT_TRUE(page);
  EXPECT_TRUE(page->complete);
  EXPECT_EQ(page->watermark, GlobalPosition{5});
  EXPECT_EQ(store.read(Query::all()).next_page()->watermark, GlobalPosition{8});
}

TEST(LocalRead, MakesPagesOfAboutTheirBytes) {
  auto options = small_pages();
  options.limits.page_events_max = 1'000;
  options.limits.page_bytes_max = 10'000;
  auto store = open_store(options);
  for (int i = 0; i < 20; ++i) append_one(store, "a-1", "T", {}, std::string(3'000, 'x'));

  auto stream = store.read(Query::all());
  const auto page = stream.next_page();

  ASSERT_TRUE(page);
  EXPECT_LE(page->events.size(), 5u);
  EXPECT_THAT(positions_of(std::move(stream)), SizeIs(20 - page->events.size()));
}

TEST(LocalRead, WaitsForAPositionItMustHaveReached) {
  auto store = open_store(small_pages());
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    append_many(store, 1, 4);
  });

  const auto seen = positions_of(store.read(Query::all(), {.at_least = GlobalPosition{3}}));
  later.join();

  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST(LocalRead, DoesNotWaitForEverForAPosition) {
  auto options = small_pages();
  options.at_least_timeout = 20ms;
  auto store = open_store(options);

  EXPECT_EQ(code_of(store.read(Query::all(), {.at_least = GlobalPosition{1}})), "timeout");
  EXPECT_EQ(code_of(store.wait_for(GlobalPosition{1}, 1ms)), "timeout");
}

TEST(LocalRead, IsCancelledFromAnotherThreadWhileItWaits) {
  auto store = open_store(small_pages());
  auto stream = store.read(Query::all(), {.at_least = GlobalPosition{1}});
  std::thread later([&] {
    std::this_thread::sleep_for(30ms);
    stream.cancel();
  });

  const auto event = stream.next();
  later.join();

  EXPECT_EQ(code_of(event), "cancelled");
}

TEST(LocalRead, IsCancelledBetweenTwoEvents) {
  auto store = open_store(small_pages());
  append_many(store, 1, 10);
  auto stream = store.read(Query::all());
  ASSERT_TRUE(stream.next());

  stream.cancel();

  EXPECT_EQ(code_of(stream.next()), "cancelled");
}

TEST(LocalRead, AnswersUnavailableOnceTheStoreIsGone) {
  std::optional<Local> store = open_store(small_pages());
  append_many(*store, 1, 10);
  auto begun = store->read(Query::all());
  ASSERT_TRUE(begun.next_page());
  auto not_begun = store->read("n-1");
  auto waiting = store->read(Query::all(), {.at_least = GlobalPosition{99}});

  store.reset();

  EXPECT_EQ(code_of(begun.next()), "unavailable");
  EXPECT_EQ(code_of(not_begun.next()), "unavailable");
  EXPECT_EQ(code_of(waiting.next()), "unavailable");
}

TEST(LocalRead, OfAClosedStoreIsUnavailableInEveryWay) {
  auto store = open_store();
  append_one(store, "a-1", "T");
  store.close();
  store.close();

  EXPECT_EQ(code_of(store.head()), "unavailable");
  EXPECT_EQ(code_of(store.read(Query::all())), "unavailable");
  EXPECT_EQ(code_of(store.event_at(GlobalPosition{1})), "unavailable");
  EXPECT_EQ(code_of(store.aggregate({"a", "1"})), "unavailable");
  EXPECT_EQ(code_of(store.aggregates({}, {}, 10)), "unavailable");
  EXPECT_EQ(code_of(store.snapshot({"a", "1"})), "unavailable");
  EXPECT_EQ(code_of(store.snapshots({"a", "1"})), "unavailable");
  EXPECT_EQ(code_of(store.put_snapshot(snapshot_of("a-1", 1, ""))), "unavailable");
  EXPECT_EQ(code_of(store.wait_for(GlobalPosition{2}, 60s)), "unavailable");
  EXPECT_EQ(code_of(store.flush()), "unavailable");
  EXPECT_EQ(store.stats().value().info.shards, 16u);
}

TEST(LocalRead, WhileOthersAppendIsDenseAndOrdered) {
  auto store = open_store(small_pages());
  std::atomic<bool> done{false};
  std::thread writer([&] {
    append_many(store, 1, 1'500);
    done = true;
  });

  bool dense = true;
  while (!done && dense) {
    std::uint64_t next = 0;
    auto stream = store.read(Query::all());
    for (const auto& event : stream) dense = dense && event.position.value == ++next;
    dense = dense && !stream.error() && stream.watermark().value == next;
  }
  writer.join();

  EXPECT_TRUE(dense);
}

TEST(LocalRead, FindsAnEventByItsPosition) {
  auto store = open_store(small_pages());
  append_many(store, 1, 100);

  EXPECT_EQ(store.event_at(GlobalPosition{42})->aggregate, (AggregateId{"n", "42"}));
  EXPECT_EQ(code_of(store.event_at(GlobalPosition{0})), "not_found");
  EXPECT_EQ(code_of(store.event_at(GlobalPosition{100})), "not_found");
}

TEST(LocalRead, TellsAnAggregatesVersionNowAndAsOf) {
  auto store = open_store(small_pages());
  append_one(store, "order-1", "T");
  append_one(store, "order-2", "T");
  append_one(store, "order-1", "T");

  const auto now = store.aggregate({"order", "1"});
  const auto then = store.aggregate({"order", "1"}, GlobalPosition{2});

  EXPECT_EQ(now->version, SeqNr{2});
  EXPECT_EQ(now->last_position, GlobalPosition{3});
  EXPECT_EQ(then->version, SeqNr{1});
  EXPECT_EQ(then->last_position, GlobalPosition{1});
  EXPECT_EQ(store.event_at(GlobalPosition{1})->shard, now->shard);
  EXPECT_EQ(code_of(store.aggregate({"order", "2"}, GlobalPosition{1})), "not_found");
  EXPECT_EQ(code_of(store.aggregate({"order", "3"})), "not_found");
}

std::vector<std::uint64_t> positions_in(const EncodedPage& page) {
  std::vector<std::uint64_t> positions;
  const auto decoded = codec::decode<Page>(page.bytes);
  EXPECT_TRUE(decoded);
  EXPECT_EQ(decoded->events.size(), page.events);
  EXPECT_EQ(decoded->watermark, page.watermark);
  EXPECT_EQ(decoded->complete, page.complete);
  for (const auto& event : decoded->events) positions.push_back(event.position.value);
  return positions;
}

TEST(LocalRead, GivesPagesForTheWireAsItGivesPages) {
  auto store = open_store(small_pages());
  append_many(store, 1, 8);
  for (const auto direction : {Direction::forwards, Direction::backwards}) {
    auto plain = store.read(Query::all(), {.direction = direction});
    auto encoded = store.read(Query::all(), {.direction = direction});
    for (bool complete = false; !complete;) {
      const auto page = plain.next_page();
      const auto bytes = encoded_page(encoded);
      ASSERT_TRUE(page && bytes);
      EXPECT_EQ(bytes->bytes, codec::encode(*page));
      complete = page->complete;
      EXPECT_EQ(bytes->complete, complete);
    }
  }
}

TEST(LocalRead, GoesOnForTheWireBehindWhatWasTakenOneByOne) {
  auto store = open_store(small_pages());
  append_many(store, 1, 9);  // pages of three
  auto stream = store.read(Query::all());
  EXPECT_EQ((*stream.next())->position, GlobalPosition{1});
  EXPECT_THAT(positions_in(*encoded_page(stream)), ElementsAre(2, 3));
  EXPECT_THAT(positions_in(*encoded_page(stream)), ElementsAre(4, 5, 6));
  EXPECT_EQ((*stream.next())->position, GlobalPosition{7});
  EXPECT_THAT(positions_in(*encoded_page(stream)), ElementsAre(8));
  EXPECT_TRUE(positions_in(*encoded_page(stream)).empty());
  stream.cancel();
  EXPECT_EQ(code_of(encoded_page(stream)), "cancelled");
  EXPECT_EQ(code_of(stream.next_page()), "cancelled");
}

TEST(LocalRead, GivesAtOnceWhatIsAtHandAndGoesOnBehindIt) {
  auto store = open_store();
  append_many(store, 1, 9);
  auto some = store.read(Query::all());
  const auto first = encoded_page(some, {.at_hand_max = 3});
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->complete);
  EXPECT_THAT(positions_in(*first), ElementsAre(1, 2, 3));
  append_many(store, 9, 12);  // behind what the read is bounded by
  EXPECT_THAT(positions_in(*encoded_page(some)), ElementsAre(4, 5, 6, 7, 8));
  EXPECT_TRUE((*encoded_page(some)).complete);

  auto all = store.read(AggregateId{"n", "1"}, {});
  auto expected = store.read(AggregateId{"n", "1"}, {});
  const auto page = encoded_page(all, {.at_hand_max = 64});
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->complete);
  EXPECT_EQ(page->bytes, encoded_page(expected)->bytes);
}

TEST(LocalRead, HasNothingAtHandThatIsToBeWaitedFor) {
  auto store = open_store();
  append_many(store, 1, 3);
  auto waiting = store.read(Query::all(), {.at_least = GlobalPosition{1}});
  EXPECT_TRUE(encoded_page(waiting, {.at_hand_max = 64})->says_nothing());
  auto cancelled = store.read(Query::all());
  cancelled.cancel();
  EXPECT_TRUE(encoded_page(cancelled, {.at_hand_max = 64})->says_nothing());
  auto closed = store.read(Query::all());
  store.close();
  EXPECT_TRUE(encoded_page(closed, {.at_hand_max = 64})->says_nothing());
}

TEST(LocalRead, ListsAggregatesByTypeInOrderOfValue) {
  auto store = open_store(small_pages());
  for (const auto* id : {"b-2", "a-9", "b-10", "c-1", "b-1"}) append_one(store, id, "T");
  const auto names = [&](std::optional<std::string> type, std::optional<AggregateId> after, std::size_t limit) {
    std::vector<std::string> found;
    const auto infos = store.aggregates(std::move(type), std::move(after), limit);
    for (const auto& info : *infos) found.push_back(info.aggregate.text());
    return found;
  };

  EXPECT_THAT(names({}, {}, 100), ElementsAre("a-9", "b-1", "b-10", "b-2", "c-1"));
  EXPECT_THAT(names("b", {}, 100), ElementsAre("b-1", "b-10", "b-2"));
  EXPECT_THAT(names("b", AggregateId{"b", "1"}, 1), ElementsAre("b-10"));
  EXPECT_THAT(names("z", {}, 100), IsEmpty());
}

}  // namespace
}  // namespace evershard
