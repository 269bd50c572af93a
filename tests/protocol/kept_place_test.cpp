// KeptPlace: a place that is kept of a store, over the store's restore.

#include "evershard/protocol/kept_place.hpp"

#include <gtest/gtest.h>

#include <map>

namespace evershard {
namespace {

EventId id_at(std::uint64_t position, std::uint32_t history = 1) {
  return EventId::derived(*EventId::parse("00010203-0405-4607-8809-0a0b0c0d0e0f"),
                          static_cast<std::uint32_t>(position * 10 + history));
}

KeptPlace place_up_to(std::uint64_t last) {
  KeptPlace place("one");
  for (std::uint64_t i = 1; i <= last; ++i) place.add({GlobalPosition(i), id_at(i), i - 1});
  return place;
}

/// A store whose first history ends at `parts`, and which goes on with a second one.
EventIdStanding store_that_parts_at(std::uint64_t parts) {
  return [parts](GlobalPosition at) -> Result<std::optional<EventId>> {
    return std::optional(id_at(at.value, at.value <= parts ? 1 : 2));
  };
}

KeptPlace::Settled settled(const KeptPlace& place, std::uint64_t reached, std::string_view fork, std::uint64_t head,
                           std::uint64_t parts) {
  return place.settle(GlobalPosition(reached), fork, GlobalPosition(head), store_that_parts_at(parts)).value();
}

TEST(KeptPlace, StandsInTheStoreThatItIsOf) {
  EXPECT_TRUE(settled(place_up_to(10), 10, "one", 10, 10).stands);
  EXPECT_TRUE(settled(place_up_to(10), 14, "one", 20, 20).stands) << "what does not match was looked at too";
  EXPECT_TRUE(settled(KeptPlace("one"), 0, "one", 0, 0).stands);
}

TEST(KeptPlace, BeyondTheHeadFallsBackToWhatTheStoreHas) {
  const auto back = settled(place_up_to(20), 20, "one", 12, 12);
  ASSERT_FALSE(back.stands);
  EXPECT_EQ(back.position, GlobalPosition(12));
  EXPECT_EQ(back.last->key, 11u);
  EXPECT_NE(back.why.find("position 20 lies beyond the head of the store, 12, fork one"), std::string::npos)
      << back.why;
}

/// The head has passed the place by now: without the event it would be taken for a place of this history.
TEST(KeptPlace, AnotherEventAtItsPositionIsAnotherHistoryAlsoOfTheSameFork) {
  const auto back = settled(place_up_to(20), 20, "one", 40, 12);
  ASSERT_FALSE(back.stands);
  EXPECT_EQ(back.position, GlobalPosition(12));
  EXPECT_NE(back.why.find("another event stands at position 20"), std::string::npos) << back.why;
}

TEST(KeptPlace, OfAnotherForkFallsBackToTheNewestEventThatBothHave) {
  const auto back = settled(place_up_to(20), 24, "two", 40, 12);
  ASSERT_FALSE(back.stands);
  EXPECT_EQ(back.position, GlobalPosition(12));
  EXPECT_NE(back.why.find("is of fork one of the store, which is fork two now"), std::string::npos) << back.why;
  // A place that looked at more than its newest mark may have looked at another history.
  EXPECT_EQ(settled(place_up_to(20), 24, "two", 40, 40).position, GlobalPosition(20));
}

TEST(KeptPlace, WithoutAnyEventInCommonBeginsAtTheBeginning) {
  const auto back = settled(place_up_to(20), 20, "two", 40, 0);
  ASSERT_FALSE(back.stands);
  EXPECT_FALSE(back.last);
  EXPECT_EQ(back.position, GlobalPosition(0));
}

TEST(KeptPlace, OfAnEarlierReleaseFallsBackToTheHead) {
  const KeptPlace place;
  EXPECT_TRUE(settled(place, 20, "one", 40, 40).stands);
  const auto back = settled(place, 20, "one", 12, 12);
  ASSERT_FALSE(back.stands);
  EXPECT_FALSE(back.last);
  EXPECT_EQ(back.position, GlobalPosition(12));
}

TEST(KeptPlace, ARemovedEventTellsNothingAgainstIt) {
  const auto removed = [](GlobalPosition) -> Result<std::optional<EventId>> { return std::optional<EventId>(); };
  EXPECT_TRUE(place_up_to(20).settle(GlobalPosition(20), "one", GlobalPosition(20), removed).value().stands);
}

TEST(KeptPlace, WhatCannotBeReadIsNotDecided) {
  const auto broken = [](GlobalPosition) -> Result<std::optional<EventId>> {
    return refuse(ErrorCode::unavailable, "its shard has no owner");
  };
  const auto settled = place_up_to(20).settle(GlobalPosition(20), "one", GlobalPosition(20), broken);
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().code, ErrorCode::unavailable);
}

TEST(KeptPlace, KeepsMarksEverFurtherApart) {
  const auto place = place_up_to(100'000);
  ASSERT_EQ(place.marks().size(), KeptPlace::marks_max);
  EXPECT_EQ(place.marks().back().position, GlobalPosition(100'000));
  for (const std::uint64_t back : {1, 10, 100, 1'000, 10'000}) {
    const auto wanted = 100'000 - back;
    const auto at = settled(place, 100'000, "two", wanted, wanted).position.value;
    EXPECT_LE(wanted - at, 8 * back + 8) << "not much more is read again than was lost";
  }
  EXPECT_EQ(place.up_to(GlobalPosition(99'999)).marks().size(), KeptPlace::marks_max - 1);
}

}  // namespace
}  // namespace evershard
