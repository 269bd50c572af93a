// Which effect of a kind is performed next.

#include "evershard/actors/process/effect_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace evershard::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Everything that may begin.
std::vector<std::string> begun(EffectQueue& queue) {
  std::vector<std::string> ids;
  while (auto id = queue.begin()) ids.push_back(std::move(*id));
  return ids;
}

TEST(EffectQueue, PassesOverThoseWhoseTargetIsFull) {
  EffectQueue queue(3, 1);
  for (const auto* id : {"a1", "a2", "b1", "a3", "c1", "b2"}) queue.add(id, std::string(id, 1));

  EXPECT_THAT(begun(queue), ElementsAre("a1", "b1", "c1"));
  queue.end("b");
  EXPECT_THAT(begun(queue), ElementsAre("b2"));
  queue.end("b");
  EXPECT_THAT(begun(queue), IsEmpty()) << "what is left waits for a";
  queue.end("a");
  EXPECT_THAT(begun(queue), ElementsAre("a2"));
}

TEST(EffectQueue, ServesInTheOrderInWhichTheyCame) {
  EffectQueue queue(1, 0);
  for (const auto* id : {"a1", "b1", "1", "a2"}) queue.add(id, id[0] == '1' ? "" : std::string(id, 1));

  std::vector<std::string> order;
  for (const auto* target : {"a", "b", "", "a"}) {
    const auto now = begun(queue);
    order.insert(order.end(), now.begin(), now.end());
    queue.end(target);
  }
  EXPECT_THAT(order, ElementsAre("a1", "b1", "1", "a2"));
}

TEST(EffectQueue, DoesNotBoundThoseWithoutATarget) {
  EffectQueue queue(3, 1);
  for (const auto* id : {"1", "2", "3", "4"}) queue.add(id, "");
  EXPECT_THAT(begun(queue), ElementsAre("1", "2", "3"));
  queue.end("");
  EXPECT_THAT(begun(queue), ElementsAre("4"));
}

/// What the queue is to do, looked for from the beginning each time.
class Naive {
 public:
  Naive(std::uint32_t at_a_time, std::uint32_t per_target) : at_a_time_(at_a_time), per_target_(per_target) {}
  void add(std::string id, std::string target) { waiting_.emplace_back(std::move(id), std::move(target)); }
  std::optional<std::string> begin() {
    if (performing_.size() >= at_a_time_) return std::nullopt;
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      const auto& target = at->second;
      if (per_target_ != 0 && !target.empty() &&
          std::ranges::count(performing_, target, [](const auto& of) { return of.second; }) >= per_target_)
        continue;
      auto id = at->first;
      performing_.push_back(*at);
      waiting_.erase(at);
      return id;
    }
    return std::nullopt;
  }
  /// Any one of them. Returns: its target
  std::string end(std::uint64_t die) {
    const auto at = performing_.begin() + static_cast<std::ptrdiff_t>(die % performing_.size());
    auto target = at->second;
    performing_.erase(at);
    return target;
  }
  [[nodiscard]] bool performs() const { return !performing_.empty(); }
  [[nodiscard]] bool waits() const { return !waiting_.empty(); }

 private:
  const std::uint32_t at_a_time_;
  const std::uint32_t per_target_;
  std::vector<std::pair<std::string, std::string>> waiting_, performing_;
};

TEST(EffectQueue, DoesWhatLookingThroughAllOfThemWould) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 dice(seed);
    const auto at_a_time = static_cast<std::uint32_t>(1 + dice() % 6),
               per_target = static_cast<std::uint32_t>(dice() % 4);
    const auto targets = 1 + dice() % 5;
    EffectQueue queue(at_a_time, per_target);
    Naive naive(at_a_time, per_target);
    const auto begin = [&] {
      for (;;) {
        const auto id = queue.begin();
        ASSERT_EQ(id, naive.begin());
        if (!id) return;
      }
    };
    for (int step = 0; step != 200; ++step) {
      if (dice() % 2 == 0 || !naive.performs()) {
        const auto which = dice() % (targets + 1);
        const auto target = which == 0 ? "" : std::to_string(which);
        queue.add(std::to_string(step), target);
        naive.add(std::to_string(step), target);
      } else {
        queue.end(naive.end(dice()));
      }
      if (dice() % 3 != 0) begin();
    }
    for (begin(); naive.performs(); begin()) queue.end(naive.end(dice()));
    EXPECT_FALSE(naive.waits()) << "everything had its turn";
  }
}

// Looking through those that wait for a target that is full, for each that begins, would be 10^10 steps.
TEST(EffectQueue, IsAsQuickHoweverManyWaitForABusyTarget) {
  constexpr int many = 100'000;
  EffectQueue queue(16, 2);
  for (int n = 0; n != many; ++n) queue.add("slow-" + std::to_string(n), "slow");
  EXPECT_EQ(begun(queue).size(), 2u);
  const auto began = std::chrono::steady_clock::now();
  for (int n = 0; n != many; ++n) {
    queue.add(std::to_string(n), "quick");
    ASSERT_THAT(begun(queue), ElementsAre(std::to_string(n)));
    queue.end("quick");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

}  // namespace
}  // namespace evershard::actors
