#include <algorithm>
#include <atomic>
#include <future>
#include <random>
#include <thread>

#include "tests/doors/remote/served_store.hpp"
#include "tests/doors/remote/silent_server.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

TEST(RemoteFollow, GoesOnWithoutAGapOrADoubleWhenTheDoorIsRestarted) {
  ServedStore served;
  auto remote = served.connect();
  std::atomic<bool> over{false};
  std::thread writer([&] {
    while (!over) {
      append_events(served.local, 5);
      std::this_thread::sleep_for(1ms);
    }
  });
  std::thread restarts([&] {
    for (int i = 0; i < 8; ++i) {
      std::this_thread::sleep_for(80ms);
      served.stop();
      std::this_thread::sleep_for(20ms);
      served.start();
    }
    over = true;
  });
  auto feed = remote.follow(Query::all(), {.page_events_max = 7});
  std::uint64_t last = 0;
  bool at_end = false;
  while (!at_end) {
    const auto item = feed.next(60s);
    ASSERT_TRUE(item) << item.error().what;
    for (const auto& event : item->events) ASSERT_EQ(event.position.value, ++last);
    ASSERT_GE(item->watermark.value, last);
    at_end = over && last == served.local.head()->value;
    if (item->kind == FeedItem::Kind::idle) break;
  }
  writer.join();
  restarts.join();
  if (last != served.local.head()->value) {
    auto item = feed.next(60s);
    while (item && last < served.local.head()->value) {
      for (const auto& event : item->events) ASSERT_EQ(event.position.value, ++last);
      if (last < served.local.head()->value) item = feed.next(60s);
    }
  }
  EXPECT_EQ(last, served.local.head()->value);
  EXPECT_GT(last, 100u);
}

TEST(RemoteFollow, IsWokenSoonByWhatIsAppended) {
  ServedStore served;
  auto remote = served.connect();
  auto feed = remote.follow(Query{}.types({"mine"}));
  ASSERT_EQ(feed.next(60s)->kind, FeedItem::Kind::caught_up);
  auto soonest = std::chrono::steady_clock::duration::max();  // a busy machine may hold up some of them
  for (int i = 0; i < 5; ++i) {
    append_events(served.local, 3, 10, "other");
    const auto began = std::chrono::steady_clock::now();
    append_events(served.local, 1, 10, "mine");
    const auto item = feed.next(60s);
    ASSERT_TRUE(item) << item.error().what;
    ASSERT_EQ(item->events.size(), 1u);
    soonest = std::min(soonest, std::chrono::steady_clock::now() - began);
  }
  EXPECT_LT(soonest, 2s);
}

TEST(RemoteFollow, TellsThatItFellBehindAndThatItCaughtUp) {
  ServedStore served;
  auto remote = served.connect();
  auto feed = remote.follow(Query::all(), {.page_events_max = 3});
  ASSERT_EQ(feed.next(60s)->kind, FeedItem::Kind::caught_up);
  append_events(served.local, 100);
  std::vector<FeedItem::Kind> kinds;
  std::size_t events = 0;
  while (events < 100 || kinds.back() != FeedItem::Kind::caught_up) {
    const auto item = feed.next(60s);
    ASSERT_TRUE(item) << item.error().what;
    ASSERT_NE(item->kind, FeedItem::Kind::idle);
    ASSERT_LE(item->events.size(), 3u);
    events += item->events.size();
    if (kinds.empty() || kinds.back() != item->kind) kinds.push_back(item->kind);
  }
  EXPECT_EQ(events, 100u);
  EXPECT_EQ(kinds.front(), FeedItem::Kind::fell_behind);
}

// From any thread, at any moment: also while the call is being opened.
TEST(RemoteFollow, CanBeCancelledAtAnyMoment) {
  ServedStore served;
  append_events(served.local, 50);
  auto remote = served.connect();
  std::mt19937 random(5);
  for (int round = 0; round < 150; ++round) {
    auto feed = remote.follow(Query::all(), {.page_events_max = 5});
    std::atomic<bool> begun{false};
    std::thread other([&, pause = random() % 1'500] {
      while (!begun) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(pause));
      feed.cancel();
    });
    begun = true;
    auto item = feed.next(60s);
    while (item) item = feed.next(60s);
    EXPECT_EQ(item.error().code, ErrorCode::cancelled);
    other.join();
  }
  for (int tries = 0; tries < 6'000 && served.door->calls() != 0; ++tries) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(served.door->calls(), 0u);
}

TEST(RemoteFollow, OutlivesTheClientItWasMadeOf) {
  ServedStore served;
  append_events(served.local, 5);
  auto feed = [&] {
    auto remote = served.connect();
    return remote.follow(Query::all());
  }();
  const auto item = feed.next(60s);
  ASSERT_TRUE(item) << item.error().what;
  EXPECT_EQ(item->events.size(), 5u);
}

// Quiet is one thing, away another: that is told once as soon as it is sure, and goes with every item until the server
// is back.
TEST(RemoteFollow, TellsAServerThatIsAwayFromOneThatIsQuiet) {
  ServedStore served;
  auto remote = served.connect();
  auto feed = remote.follow(Query::all());
  ASSERT_EQ(feed.next(60s)->kind, FeedItem::Kind::caught_up);
  const auto quiet = feed.next(50ms);
  ASSERT_TRUE(quiet);
  EXPECT_EQ(quiet->kind, FeedItem::Kind::idle);
  EXPECT_FALSE(quiet->away);

  served.stop();
  const auto gone = feed.next(120s);  // long before its time is up
  ASSERT_TRUE(gone) << gone.error().what;
  EXPECT_EQ(gone->kind, FeedItem::Kind::idle);
  ASSERT_TRUE(gone->away);
  EXPECT_GE(gone->away->gone_for, 1s);
  EXPECT_LT(gone->away->gone_for, 60s);
  EXPECT_FALSE(gone->away->why.what.empty());
  const auto still = feed.next(50ms);
  ASSERT_TRUE(still);
  ASSERT_TRUE(still->away);
  EXPECT_GT(still->away->gone_for, gone->away->gone_for);

  served.start();
  append_events(served.local, 1);
  auto back = feed.next(60s);
  while (back && back->events.empty()) back = feed.next(60s);
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_FALSE(back->away);
  EXPECT_FALSE(feed.next(10ms)->away);
}

/// As after a restore: another history at the same address, which has grown past where the follower stands.
TEST(RemoteFollow, EndsWhereTheStoreAtTheAddressIsAnotherFork) {
  auto served = std::make_unique<ServedStore>();
  const auto fork = served->served->fork;
  auto remote = served->connect();
  append_events(served->local, 20);
  auto feed = remote.follow(Query::all());
  for (std::uint64_t seen = 0; seen < 20;) {
    const auto item = feed.next(60s);
    ASSERT_TRUE(item) << item.error().what;
    seen = item->watermark.value;
  }
  door::DoorOptions same;
  same.listen = {served->address()};
  served.reset();
  ServedStore other(same);
  append_events(other.local, 30);
  auto item = feed.next(60s);
  while (item && item->events.empty()) item = feed.next(60s);
  ASSERT_FALSE(item) << "an event of another history was given";
  EXPECT_EQ(item.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(item.error().what.find("is fork " + other.served->fork + " now, and fork " + fork +
                                   " was followed, up to "
                                   "position 20"),
            std::string::npos)
      << item.error().what;
  EXPECT_EQ(feed.next(0ms).error().code, ErrorCode::invalid_argument) << "for good";
  // Who begins anew does, and nobody begins where the store is not.
  EXPECT_TRUE(remote.follow(Query::all(), {.after = GlobalPosition{20}}).next(60s));
  const auto beyond = remote.follow(Query::all(), {.after = GlobalPosition{31}}).next(60s);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(beyond.error().what.find("position 31 lies beyond the head of the store, 30, fork " + other.served->fork),
            std::string::npos)
      << beyond.error().what;
}

TEST(RemoteFollow, ABriefBreakIsNobodysBusiness) {
  ServedStore served;
  auto remote = served.connect();
  auto feed = remote.follow(Query::all());
  ASSERT_EQ(feed.next(60s)->kind, FeedItem::Kind::caught_up);
  served.stop();
  served.start();
  append_events(served.local, 1);
  for (auto item = feed.next(60s); item && item->events.empty(); item = feed.next(60s)) EXPECT_FALSE(item->away);
}

TEST(RemoteFollow, AServerThatWasNeverThereIsAnErrorInTime) {
  auto remote = *Remote::connect({.server = "127.0.0.1:1", .timeout = 200ms});
  auto feed = remote.follow(Query::all());
  const auto began = std::chrono::steady_clock::now();
  auto item = feed.next(100ms);
  while (item && std::chrono::steady_clock::now() - began < 20s) item = feed.next(100ms);
  ASSERT_FALSE(item);
  EXPECT_EQ(item.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace evershard
