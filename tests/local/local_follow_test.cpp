// Local: following live behind the watermark.

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = FeedItem::Kind;

FeedItem next(EventFeed& feed, std::chrono::milliseconds timeout = 0ms) {
  auto item = feed.next(timeout);
  EXPECT_TRUE(item) << item.error().what;
  return item ? *std::move(item) : FeedItem{};
}

TEST(LocalFollow, CatchesUpSaysSoOnceAndGoesOnLive) {
  auto store = open_store();
  append_many(store, 1, 4);
  auto feed = store.follow(Query::all(), {.page_events_max = 2});

  const auto first = next(feed), second = next(feed), third = next(feed), fourth = next(feed);
  append_many(store, 4, 5);
  const auto live = next(feed), quiet = next(feed);

  EXPECT_EQ(first.kind, Kind::events);
  EXPECT_THAT(positions_of(first.events), ElementsAre(1, 2));
  EXPECT_EQ(first.watermark, GlobalPosition{2});
  EXPECT_THAT(positions_of(second.events), ElementsAre(3));
  EXPECT_EQ(third.kind, Kind::caught_up);
  EXPECT_EQ(third.watermark, GlobalPosition{3});
  EXPECT_EQ(fourth.kind, Kind::idle);
  EXPECT_THAT(positions_of(live.events), ElementsAre(4));
  EXPECT_EQ(quiet.kind, Kind::idle);
}

TEST(LocalFollow, OfAnEmptyStoreIsCaughtUpAtOnce) {
  auto store = open_store();
  auto feed = store.follow(Query::all());

  const auto item = next(feed);

  EXPECT_EQ(item.kind, Kind::caught_up);
  EXPECT_EQ(item.watermark, GlobalPosition{0});
}

TEST(LocalFollow, SaysWhenItFellBehindAndWhenItHasCaughtUpAgain) {
  auto store = open_store();
  auto feed = store.follow(Query::all(), {.page_events_max = 3});
  ASSERT_EQ(next(feed).kind, Kind::caught_up);

  append_many(store, 1, 8);
  std::vector<Kind> kinds;
  std::vector<std::uint64_t> positions;
  for (int i = 0; i < 6; ++i) {
    const auto item = next(feed);
    kinds.push_back(item.kind);
    for (const auto position : positions_of(item.events)) positions.push_back(position);
  }

  EXPECT_THAT(kinds,
              ElementsAre(Kind::fell_behind, Kind::events, Kind::events, Kind::events, Kind::caught_up, Kind::idle));
  EXPECT_THAT(positions, ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST(LocalFollow, BeginsBehindAPositionThatTheStoreHas) {
  auto store = open_store();
  append_many(store, 1, 6);
  auto near = store.follow(Query::all(), {.after = GlobalPosition{4}});
  EXPECT_THAT(positions_of(next(near).events), ElementsAre(5));
  EXPECT_EQ(next(near).watermark, GlobalPosition{5});
  // What is appended as event 6 and 7 would never be given.
  const auto beyond = store.follow(Query::all(), {.after = GlobalPosition{7}}).next(std::chrono::milliseconds(0));
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(beyond.error().what, ::testing::HasSubstr("position 7 lies beyond the head of the store, 5, fork " +
                                                        store.stats().value().info.fork_id));
}

TEST(LocalFollow, AConditionBehindTheHeadOfTheStoreIsRefused) {
  auto store = open_store();
  append_many(store, 1, 6);
  const auto refused = store.append(Append{}.event("a-1", "A", "{}").fail_if(Query{}.types({"B"}), GlobalPosition{6}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, ::testing::HasSubstr("position 6 lies beyond the head of the store, 5"));
  EXPECT_TRUE(store.append(Append{}.event("a-1", "A", "{}").fail_if(Query{}.types({"B"}), GlobalPosition{5})));
}

TEST(LocalFollow, MovesItsCheckpointOverWhatDoesNotMatch) {
  auto store = open_store();
  auto feed = store.follow(Query{}.tags({"rare"}));
  append_many(store, 1, 11);
  const auto caught_up = next(feed);
  append_many(store, 11, 21);

  const auto idle = next(feed, 1ms);

  EXPECT_EQ(caught_up.kind, Kind::caught_up);
  EXPECT_EQ(caught_up.watermark, GlobalPosition{10});
  EXPECT_EQ(idle.kind, Kind::idle);
  EXPECT_EQ(idle.watermark, GlobalPosition{20});
}

TEST(LocalFollow, KeepsToItsTimeOutWhileOthersAppendWhatDoesNotMatch) {
  auto store = open_store();
  auto feed = store.follow(Query{}.tags({"rare"}));
  ASSERT_EQ(next(feed).kind, Kind::caught_up);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t i = 0; !stop; ++i) append_many(store, i, i + 1);
  });

  const auto began = std::chrono::steady_clock::now();
  const auto item = next(feed, 50ms);
  const auto took = std::chrono::steady_clock::now() - began;
  stop = true;
  writer.join();

  EXPECT_EQ(item.kind, Kind::idle);
  EXPECT_GT(item.watermark, GlobalPosition{0});
  EXPECT_LT(took, 30s);
}

TEST(LocalFollow, IsWokenByAnAppend) {
  auto store = open_store();
  auto feed = store.follow(Query{}.tags({"all"}));
  ASSERT_EQ(next(feed).kind, Kind::caught_up);
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    append_many(store, 1, 2);
  });

  const auto item = next(feed, 60s);
  later.join();

  EXPECT_THAT(positions_of(item.events), ElementsAre(1));
}

TEST(LocalFollow, GivesSeveralFollowersEverythingWhileManyAppend) {
  auto store = open_store({.shards = 3, .tail_events = 64});
  constexpr std::uint64_t events = 900;
  std::atomic<int> complete{0};
  const auto follow = [&](Query query, std::uint64_t expected) {
    auto feed = store.follow(std::move(query), {.page_events_max = 16});
    std::uint64_t seen = 0;
    GlobalPosition last;
    while (seen < expected) {
      auto item = feed.next(30s);
      if (!item || item->kind == Kind::idle) return;
      for (const auto& event : item->events) {
        if (event.position <= last || event.position > item->watermark) return;
        last = event.position;
        ++seen;
      }
    }
    complete += seen == expected;
  };
  std::vector<std::thread> threads;
  threads.emplace_back(follow, Query::all(), events);
  threads.emplace_back(follow, Query::all(), events);
  threads.emplace_back(follow, Query{}.tags({"even"}), events / 2);

  for (std::uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] { append_many(store, t * events / 3, (t + 1) * events / 3); });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(complete, 3);
}

TEST(LocalFollow, IsCancelledFromAnotherThread) {
  auto store = open_store();
  auto feed = store.follow(Query::all());
  ASSERT_EQ(next(feed).kind, Kind::caught_up);
  std::thread later([&] {
    std::this_thread::sleep_for(30ms);
    feed.cancel();
  });

  const auto item = feed.next(60s);
  later.join();

  EXPECT_EQ(code_of(item), "cancelled");
  EXPECT_EQ(code_of(feed.next(0ms)), "cancelled");
}

TEST(LocalFollow, EndsWhenTheStoreCloses) {
  std::optional<Local> store = open_store();
  auto feed = store->follow(Query::all());
  ASSERT_EQ(next(feed).kind, Kind::caught_up);
  std::thread later([&] {
    std::this_thread::sleep_for(30ms);
    store.reset();
  });

  const auto item = feed.next(60s);
  later.join();

  EXPECT_EQ(code_of(item), "unavailable");
  EXPECT_EQ(code_of(feed.next(0ms)), "unavailable");
}

TEST(LocalFollow, RefusesWhatItCannotAsk) {
  auto store = open_store();

  auto no_items = store.follow(Query{});
  auto no_pages = store.follow(Query::all(), {.page_events_max = 0});

  EXPECT_EQ(code_of(no_items.next(0ms)), "invalid_query");
  EXPECT_EQ(code_of(no_pages.next(0ms)), "invalid_argument");
}

/// What an append costs, and then the feed: printed, and bounded loosely enough for a busy machine.
TEST(LocalFollow, DeliversSoonAfterTheAppend) {
  auto store = open_store();
  auto feed = store.follow(Query::all());
  ASSERT_EQ(next(feed).kind, Kind::caught_up);
  constexpr int rounds = 200;
  std::vector<std::chrono::steady_clock::time_point> seen(rounds);
  std::atomic<int> delivered{0};
  std::thread follower([&] {
    while (delivered < rounds) {
      auto item = feed.next(30s);
      if (!item || item->kind == Kind::idle) return;
      for (std::size_t i = 0; i < item->events.size(); ++i) {
        seen[static_cast<std::size_t>(delivered)] = std::chrono::steady_clock::now();
        ++delivered;
      }
    }
  });

  std::vector<std::int64_t> took_us;
  for (int i = 0; i < rounds; ++i) {
    const auto began = std::chrono::steady_clock::now();
    append_many(store, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(i) + 1);
    while (delivered <= i) std::this_thread::yield();
    took_us.push_back(
        std::chrono::duration_cast<std::chrono::microseconds>(seen[static_cast<std::size_t>(i)] - began).count());
  }
  follower.join();
  std::sort(took_us.begin(), took_us.end());

  RecordProperty("median_us", static_cast<int>(took_us[rounds / 2]));
  EXPECT_LT(took_us[rounds / 10], 50'000) << "a busy machine may hold up most of them";
}

}  // namespace
}  // namespace evershard
