#include "evershard/doors/serving/head_watch.hpp"

#include <gtest/gtest.h>

#include <future>
#include <random>
#include <thread>

#include "tests/doors/serving/listed_events.hpp"

namespace evershard::serving {
namespace {

using namespace std::chrono_literals;
using Why = HeadWatch::Why;

HeadWatch::Clock::time_point in(std::chrono::milliseconds time) { return HeadWatch::Clock::now() + time; }

/// What a wait ended with, waited for. Copies are of the same: a wait may outlive the test's own.
template <class Value>
class Ends {
 public:
  void end(Value value) const {
    const std::lock_guard lock(state_->mutex);
    state_->values.push_back(std::move(value));
    state_->changed.notify_all();
  }
  std::vector<Value> wait(std::size_t count = 1, std::chrono::milliseconds most = 20s) const {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait_until(lock, std::chrono::system_clock::now() + most,
                               [&] { return state_->values.size() >= count; });
    return state_->values;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Value> values;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

std::string text_of(const Result<GlobalPosition>& result) {
  return result ? std::to_string(result->value) : std::string(name_of(result.error().code));
}

struct Woken {
  Why why;
  std::uint64_t looked_at;
};

class WatchedHead : public ::testing::Test {
 protected:
  HeadWatch::Ticket reach(std::uint64_t position, std::chrono::milliseconds timeout, const Ends<std::string>& ends) {
    return watch.when_reached(GlobalPosition(position), in(timeout),
                              [ends](const Result<GlobalPosition>& result) { ends.end(text_of(result)); });
  }
  HeadWatch::Ticket match(std::uint64_t after, Query query, std::chrono::milliseconds timeout,
                          const Ends<Woken>& ends) {
    return watch.when_matching(GlobalPosition(after), std::move(query), in(timeout),
                               [ends](Why why, GlobalPosition at) {
                                 ends.end({why, at.value});
                               });
  }

  ListedEvents store;
  HeadWatch watch{store};
};

TEST_F(WatchedHead, AnswersAtOnceWhereThePositionWasReached) {
  store.add("A", 3);
  Ends<std::string> ends;
  EXPECT_EQ(reach(3, 0ms, ends), 0u);
  EXPECT_EQ(ends.wait(), std::vector<std::string>{"3"});
}

TEST_F(WatchedHead, AnswersWhenThePositionIsReachedAndNotBefore) {
  Ends<std::string> second;
  Ends<std::string> first;
  reach(2, 20s, second);
  reach(1, 20s, first);
  store.add("A");
  EXPECT_EQ(first.wait(), std::vector<std::string>{"1"});
  EXPECT_TRUE(second.wait(1, 50ms).empty());
  store.add("A");
  EXPECT_EQ(second.wait(), std::vector<std::string>{"2"});
}

TEST_F(WatchedHead, EndsAtTheDeadlineWithTheWordsOfTheStore) {
  store.add("A", 2);
  std::promise<Result<GlobalPosition>> ended;
  const auto began = std::chrono::steady_clock::now();
  (void)watch.when_reached(GlobalPosition(9), in(60ms),
                           [&](const Result<GlobalPosition>& result) { ended.set_value(result); });
  const auto result = ended.get_future().get();
  EXPECT_GE(std::chrono::steady_clock::now() - began, 60ms);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::timeout);
  EXPECT_EQ(result.error().what, "the watermark is at 2, not yet at 9");
}

TEST_F(WatchedHead, WakesWhoeverAnEventMatchesAndNobodyElse) {
  store.add("A", 5);
  Ends<Woken> of_b;
  Ends<Woken> of_c;
  match(5, Query{}.types({"B"}), 20s, of_b);
  match(5, Query{}.types({"C"}), 20s, of_c);
  store.add("A");
  EXPECT_TRUE(of_b.wait(1, 50ms).empty());
  store.add("B");
  ASSERT_EQ(of_b.wait().size(), 1u);
  EXPECT_EQ(of_b.wait()[0].why, Why::something);
  EXPECT_TRUE(of_c.wait(1, 50ms).empty());
}

TEST_F(WatchedHead, TellsAtTheDeadlineHowFarItLooked) {
  store.add("A", 5);
  Ends<Woken> ends;
  match(5, Query{}.types({"B"}), 3s, ends);
  store.add("A", 2);
  ASSERT_EQ(ends.wait().size(), 1u);
  EXPECT_EQ(ends.wait()[0].why, Why::deadline);
  EXPECT_EQ(ends.wait()[0].looked_at, 7u);
}

// Whoever waits from behind what was looked at has to look for itself.
TEST_F(WatchedHead, WakesAtOnceWhoCameLate) {
  Ends<Woken> first;
  Ends<Woken> late;
  match(0, Query{}.types({"B"}), 20s, first);
  store.add("A", 3);
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (store.reads == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  match(1, Query{}.types({"A"}), 20s, late);
  ASSERT_EQ(late.wait().size(), 1u);
  EXPECT_EQ(late.wait()[0].why, Why::something);
}

// One that waits from beyond the head must not make the others run in a circle: each time told that there may be
// something.
TEST_F(WatchedHead, OneThatWaitsFromBeyondTheHeadDisturbsNobody) {
  store.add("A", 5);
  Ends<Woken> beyond;
  Ends<Woken> here;
  match(1'000'000, Query::all(), 20s, beyond);
  EXPECT_NE(match(5, Query::all(), 20s, here), 0u);
  EXPECT_TRUE(here.wait(1, 50ms).empty());
  store.add("A");
  ASSERT_EQ(here.wait().size(), 1u);
  EXPECT_EQ(here.wait()[0].why, Why::something);
}

TEST_F(WatchedHead, WakesEverybodyWhenTheStoreCannotBeRead) {
  Ends<Woken> ends;
  store.fails = true;
  match(0, Query{}.types({"B"}), 20s, ends);
  store.add("A");
  ASSERT_EQ(ends.wait().size(), 1u);
  EXPECT_EQ(ends.wait()[0].why, Why::something);
}

TEST_F(WatchedHead, WakesEverybodyWhenVeryMuchCameAtOnce) {
  Ends<Woken> ends;
  match(0, Query{}.types({"B"}), 20s, ends);
  store.reading = [] { std::this_thread::sleep_for(300ms); };
  store.add("A");
  std::this_thread::sleep_for(100ms);  // it is reading that one
  store.add("A", 5'000);
  ASSERT_EQ(ends.wait().size(), 1u);
  EXPECT_EQ(ends.wait()[0].why, Why::something);
  EXPECT_LE(store.reads, 1) << "so much is not read for nobody";
}

TEST_F(WatchedHead, ACancelledWaitIsNeverCalled) {
  Ends<std::string> reached;
  Ends<Woken> woken;
  EXPECT_TRUE(watch.cancel(reach(1, 20s, reached)));
  EXPECT_TRUE(watch.cancel(match(0, Query::all(), 20s, woken)));
  store.add("A", 2);
  EXPECT_TRUE(reached.wait(1, 80ms).empty());
  EXPECT_TRUE(woken.wait(1, 1ms).empty());
  EXPECT_FALSE(watch.cancel(0));
  EXPECT_FALSE(watch.cancel(77));
}

TEST_F(WatchedHead, CancellingWaitsForACallThatIsUnderWay) {
  std::promise<void> inside;
  std::atomic<bool> over{false};
  const auto ticket = watch.when_reached(GlobalPosition(1), in(20s), [&](const Result<GlobalPosition>&) {
    inside.set_value();
    std::this_thread::sleep_for(50ms);
    over = true;
  });
  store.add("A");
  inside.get_future().wait();
  EXPECT_FALSE(watch.cancel(ticket));
  EXPECT_TRUE(over);
}

TEST_F(WatchedHead, ClosingEndsEveryWaitAndEveryLaterOne) {
  Ends<std::string> reached;
  Ends<Woken> woken;
  reach(10, 20s, reached);
  match(0, Query::all(), 20s, woken);
  std::thread other([&] { watch.close(); });
  watch.close();
  other.join();
  EXPECT_EQ(reached.wait(), std::vector<std::string>{"unavailable"});
  ASSERT_EQ(woken.wait().size(), 1u);
  EXPECT_EQ(woken.wait()[0].why, Why::closing);

  EXPECT_EQ(reach(10, 20s, reached), 0u);
  EXPECT_EQ(match(0, Query::all(), 20s, woken), 0u);
  EXPECT_EQ(reached.wait(2).size(), 2u);
  EXPECT_EQ(woken.wait(2)[1].why, Why::closing);
}

TEST_F(WatchedHead, AStoreThatIsClosedEndsEveryWait) {
  Ends<std::string> reached;
  Ends<Woken> woken;
  reach(10, 20s, reached);
  match(0, Query::all(), 20s, woken);
  store.close();
  EXPECT_EQ(reached.wait(), std::vector<std::string>{"unavailable"});
  ASSERT_EQ(woken.wait().size(), 1u);
  EXPECT_EQ(woken.wait()[0].why, Why::closing);
}

TEST_F(WatchedHead, WithoutAWaitItAsksNothing) {
  store.add("A");
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(store.waits, 0);
  Ends<Woken> ends;
  const auto began = std::chrono::steady_clock::now();
  const auto ticket = match(1, Query::all(), 20s, ends);
  std::this_thread::sleep_for(300ms);
  const int looks = store.waits;
  EXPECT_LE(looks, (std::chrono::steady_clock::now() - began) / 10ms) << "a wait costs a look every 20 ms";
  watch.cancel(ticket);
  int before = -1;
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       before != store.waits && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(100ms))
    before = store.waits;
  EXPECT_EQ(store.waits, before) << "it goes on asking for nobody";
}

// Everything at once: each wait ends exactly once, or was cancelled and never; and nobody misses an event that matches.
TEST(HeadWatch, EachWaitEndsExactlyOnceWhateverHappensAtOnce) {
  constexpr int threads = 4;
  ListedEvents store;
  std::vector<std::unique_ptr<std::atomic<int>>> ended;
  std::mutex mutex;
  std::vector<int> cancelled;
  std::atomic<bool> over{false};
  {
    HeadWatch watch(store);
    std::thread writer([&] {
      std::mt19937 random(1);
      while (!over) {
        store.add(random() % 2 == 0 ? "A" : "B");
        if (random() % 8 == 0) std::this_thread::sleep_for(1ms);
      }
    });
    std::vector<std::thread> waiters;
    for (int t = 0; t < threads; ++t) {
      waiters.emplace_back([&, t] {
        std::mt19937 random(static_cast<unsigned>(t) + 7);
        for (int i = 0; i < 600; ++i) {
          auto* count = [&] {
            const std::lock_guard lock(mutex);
            return ended.emplace_back(std::make_unique<std::atomic<int>>(0)).get();
          }();
          const auto head = store.head()->value;
          const auto deadline = in(std::chrono::milliseconds(random() % 30));
          const auto ticket =
              random() % 2 == 0
                  ? watch.when_reached(GlobalPosition(head + random() % 4), deadline,
                                       [count](const Result<GlobalPosition>&) { ++*count; })
                  : watch.when_matching(GlobalPosition(head), Query{}.types({random() % 3 == 0 ? "none" : "A"}),
                                        deadline, [count](Why, GlobalPosition) { ++*count; });
          if (random() % 3 == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 2'000));
            const bool never = watch.cancel(ticket);
            const int now = *count;
            ASSERT_EQ(now, never ? 0 : 1);
            if (never) *count = 1;
          }
        }
      });
    }
    for (auto& waiter : waiters) waiter.join();
    over = true;
    writer.join();
  }
  for (const auto& count : ended) ASSERT_EQ(*count, 1);
}

// A subscription in small: reads up to the head, waits from there, is woken, reads: it must see each event in time.
TEST(HeadWatch, ASubscriberMissesNothing) {
  ListedEvents store;
  HeadWatch watch(store);
  std::thread writer([&] {
    for (int i = 0; i < 400; ++i) {
      store.add(i % 7 == 0 ? "mine" : "other");
      if (i % 5 == 0) std::this_thread::sleep_for(200us);
    }
  });
  std::vector<std::thread> subscribers;
  for (int s = 0; s < 3; ++s) {
    subscribers.emplace_back([&] {
      std::size_t seen = 0;
      GlobalPosition at{0};
      const auto until = std::chrono::steady_clock::now() + 60s;
      while (seen < 58 && std::chrono::steady_clock::now() < until) {
        const auto head = *store.head();
        auto stream = store.read(Query{}.types({"mine"}), {.after = at, .up_to = head});
        for (const auto& event : stream) seen += event.position > at ? 1u : 0u;
        at = head;
        if (seen == 58) break;
        std::promise<Why> woken;
        (void)watch.when_matching(at, Query{}.types({"mine"}), in(55s),
                                  [&](Why why, GlobalPosition) { woken.set_value(why); });
        ASSERT_EQ(woken.get_future().get(), Why::something) << "an event was missed";
      }
      EXPECT_EQ(seen, 58u);
    });
  }
  for (auto& subscriber : subscribers) subscriber.join();
  writer.join();
}

}  // namespace
}  // namespace evershard::serving
