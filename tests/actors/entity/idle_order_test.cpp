// Who is given up first, and whose time comes first.

#include "evershard/actors/entity/idle_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "evershard/actors/entity/wake_heap.hpp"

namespace evershard::actors {
namespace {

using namespace std::chrono_literals;

const SteadyTime start{1h};

TEST(IdleOrder, GivesUpFirstWhatWasUsedOnce) {
  IdleOrder order(2);
  std::vector<IdleLinks> elements(4);
  for (auto& element : elements) order.add(element, start);
  order.remove(elements[0]);
  order.add(elements[0], start + 1s);

  for (const std::size_t expected : {1u, 2u, 3u, 0u}) {
    EXPECT_EQ(order.first_out(), &elements[expected]);
    order.remove(*order.first_out());
  }
  EXPECT_EQ(order.first_out(), nullptr);
  EXPECT_EQ(order.size(), 0u);
}

TEST(IdleOrder, SendsBackToProbationWhatWasKeptTheLongest) {
  IdleOrder order(2);
  std::vector<IdleLinks> elements(4);
  for (int round = 0; round < 2; ++round) {
    for (auto& element : elements) {
      order.remove(element);
      order.add(element, start + std::chrono::seconds(round));
    }
  }

  EXPECT_EQ(elements[0].segment, IdleLinks::Segment::probation);
  EXPECT_EQ(elements[3].segment, IdleLinks::Segment::kept);
  EXPECT_EQ(order.first_out(), &elements[0]);
}

TEST(IdleOrder, FindsWhatIsIdleForLong) {
  IdleOrder order(2);
  IdleLinks first, second;
  EXPECT_EQ(order.oldest(), never);
  order.add(first, start);
  order.add(second, start + 1s);
  order.remove(first);
  order.add(first, start + 2s);

  EXPECT_EQ(order.oldest(), start + 1s);
  EXPECT_EQ(order.idle_since(start), nullptr);
  EXPECT_EQ(order.idle_since(start + 1s), &second);
  order.remove(second);
  EXPECT_EQ(order.idle_since(start + 1s), nullptr);
  EXPECT_EQ(order.idle_since(start + 2s), &first);
}

TEST(WakeHeap, AlwaysKnowsTheFirst) {
  WakeHeap heap;
  std::vector<WakeLink> elements(50);
  std::mt19937 random(7);
  for (int i = 0; i < 5'000; ++i) {
    auto& element = elements[random() % elements.size()];
    switch (random() % 4) {
      case 0:
        heap.remove(element);
        element.wake = never;
        break;
      case 1:
        heap.set(element, never);
        break;
      default:
        heap.set(element, start + std::chrono::seconds(random() % 100));
        break;
    }
    SteadyTime first = never;
    for (const auto& each : elements) first = std::min(first, each.wake);
    ASSERT_EQ(heap.next(), first) << i;
  }
}

}  // namespace
}  // namespace evershard::actors
