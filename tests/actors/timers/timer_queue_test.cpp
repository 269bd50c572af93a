// TimerQueue against a list that is sorted each time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "evershard/actors/timers/paced_queue.hpp"

namespace evershard::actors {
namespace {

DueTimer timer(std::uint64_t key, std::uint64_t set_at, std::int64_t due) {
  return {{0, key}, GlobalPosition{set_at}, ShardId{0}, Timestamp{due}};
}

TEST(TimerQueue, GivesWhatIsDueInOrderOfTime) {
  TimerQueue queue;
  queue.set(timer(1, 1, 300));
  queue.set(timer(2, 2, 100));
  queue.set(timer(3, 3, 200));
  EXPECT_EQ(queue.next(), Timestamp{100});
  EXPECT_TRUE(queue.take(Timestamp{99}, 10).empty());
  EXPECT_THAT(queue.take(Timestamp{250}, 10), testing::ElementsAre(timer(2, 2, 100), timer(3, 3, 200)));
  EXPECT_EQ(queue.next(), Timestamp{300});
  EXPECT_EQ(queue.size(), 3u) << "two are under way";
}

TEST(TimerQueue, KnowsWhatWasSetLast) {
  TimerQueue queue;
  queue.set(timer(1, 5, 100));
  queue.set(timer(1, 4, 50));  // comes late
  EXPECT_EQ(queue.next(), Timestamp{100});
  queue.set(timer(1, 6, 200));
  EXPECT_EQ(queue.next(), Timestamp{200});
  queue.drop({0, 1}, GlobalPosition{6});
  EXPECT_EQ(queue.size(), 1u) << "its own event, once more";
  queue.drop({0, 1}, GlobalPosition{7});
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_FALSE(queue.next());
}

// A clock that is an hour ahead for two seconds, and then set right: what failed meanwhile was put back by it.
TEST(TimerQueue, TakesWhatAClockPutBackThatWasAheadOnceItIsSetRight) {
  constexpr std::int64_t hour = 3'600'000'000;
  TimerQueue queue;
  queue.set(timer(1, 1, 100));
  queue.set(timer(2, 2, hour / 2));
  const auto due = queue.take(Timestamp{hour}, 1);
  ASSERT_THAT(due, testing::ElementsAre(timer(1, 1, 100)));
  queue.put_back(due.front(), Timestamp{hour + 1'000'000});
  EXPECT_TRUE(queue.take(Timestamp{200}, 10).empty());

  queue.clock_was_set_back();

  EXPECT_THAT(queue.take(Timestamp{200}, 10), testing::ElementsAre(timer(1, 1, 100)));
  EXPECT_EQ(queue.next(), Timestamp{hour / 2}) << "what is due later waits for its time";
}

TEST(PacedQueue, ForgetsWhatWasChangedWhileItWasUnderWay) {
  for (const bool anew : {false, true}) {
    PacedQueue queue;
    queue.set(timer(1, 5, 100));
    const auto due = queue.take(Timestamp{100});
    ASSERT_EQ(due.size(), 1u);
    if (anew)
      queue.set(timer(1, 7, 900));  // heard of before the answer
    else
      queue.drop({0, 1}, GlobalPosition{7});
    queue.try_again(due[0], Timestamp{110});
    EXPECT_EQ(queue.failing(), 0u) << "there is nothing that is to be tried again";
    EXPECT_EQ(queue.size(), anew ? 1u : 0u);
    EXPECT_EQ(queue.next(Timestamp{110}), anew ? std::optional(Timestamp{900}) : std::nullopt);
  }
}

TEST(TimerQueue, IsAsAListThatIsSortedEachTime) {
  struct Entry {
    DueTimer timer;
    std::int64_t until = 0;
    bool waits = true;
  };
  for (std::uint64_t seed = 1; seed != 40; ++seed) {
    std::mt19937_64 random(seed);
    TimerQueue queue;
    std::map<std::uint64_t, Entry> naive;
    std::vector<DueTimer> under_way;
    std::uint64_t position = 0;
    std::int64_t now = 0;
    for (int step = 0; step != 5'000; ++step) {
      const std::uint64_t key = random() % 50;
      switch (random() % 5) {
        case 0:
        case 1: {
          const auto set = timer(key, ++position, now + static_cast<std::int64_t>(random() % 100));
          queue.set(set);
          naive[key] = {set, set.due.micros, true};
          break;
        }
        case 2:
          queue.drop({0, key}, GlobalPosition{++position});
          naive.erase(key);
          break;
        case 3: {
          now += static_cast<std::int64_t>(random() % 30);
          const std::size_t most = 1 + random() % 5;
          std::vector<std::pair<std::int64_t, std::uint64_t>> due;
          for (const auto& [of, entry] : naive)
            if (entry.waits && entry.until <= now) due.emplace_back(entry.until, of);
          std::ranges::sort(due);
          due.resize(std::min(due.size(), most));
          const auto taken = queue.take(Timestamp{now}, most);
          ASSERT_EQ(taken.size(), due.size()) << "seed " << seed;
          for (std::size_t i = 0; i != due.size(); ++i) {
            auto& entry = naive.at(due[i].second);
            ASSERT_EQ(taken[i], entry.timer) << "seed " << seed;
            entry.waits = false;
            under_way.push_back(taken[i]);
          }
          break;
        }
        default: {
          if (under_way.empty()) break;
          const auto back = under_way.back();
          under_way.pop_back();
          const auto until = now + static_cast<std::int64_t>(random() % 50);
          queue.put_back(back, Timestamp{until});
          const auto found = naive.find(back.key.low);
          if (found == naive.end() || found->second.timer.set_at != back.set_at || found->second.waits) break;
          found->second.waits = true;
          found->second.until = until;
        }
      }
      std::optional<Timestamp> first;
      for (const auto& [of, entry] : naive)
        if (entry.waits && (!first || entry.until < first->micros)) first = Timestamp{entry.until};
      ASSERT_EQ(queue.next(), first) << "seed " << seed;
      ASSERT_EQ(queue.size(), naive.size());
    }
  }
}

}  // namespace
}  // namespace evershard::actors
