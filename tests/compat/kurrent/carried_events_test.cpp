// CarriedEvents: what a consumer has and has said is not asked of him twice when the home moves.

#include "evershard/compat/kurrent/carried_events.hpp"

#include <gtest/gtest.h>

namespace evershard::kurrent {
namespace {

using What = CarriedEvents::What;
using Nack = PersistentSubscription::Nack;

EventId numbered(std::uint8_t number) {
  EventId id;
  id.bytes[3] = number;
  return id;
}

TEST(CarriedEvents, PassWhereNothingMoved) {
  CarriedEvents carried;
  EXPECT_EQ(carried.given(numbered(1)).what, What::pass);
  EXPECT_EQ(carried.given(numbered(1)).what, What::pass) << "the home knows why";
  carried.said(numbered(1), {});
  EXPECT_EQ(carried.given(numbered(1)).what, What::pass) << "it came too late there";
}

TEST(CarriedEvents, WhatHeHasStaysWithHimOnce) {
  CarriedEvents carried;
  (void)carried.given(numbered(1));
  carried.moved();
  EXPECT_EQ(carried.given(numbered(1)).what, What::keep_back);
  EXPECT_EQ(carried.given(numbered(1)).what, What::pass) << "tried again by the new home";
  carried.moved();
  EXPECT_EQ(carried.given(numbered(1)).what, What::keep_back);
  carried.said(numbered(1), {});
  EXPECT_EQ(carried.given(numbered(1)).what, What::pass) << "this home heard it";
}

TEST(CarriedEvents, WhatHeSettledIsSettledAgainForHim) {
  CarriedEvents carried;
  (void)carried.given(numbered(1));
  (void)carried.given(numbered(2));
  carried.said(numbered(1), {});
  carried.said(numbered(2), {Nack::park, "bad"});
  carried.moved();
  EXPECT_EQ(carried.given(numbered(1)).what, What::say_again);
  EXPECT_EQ(carried.given(numbered(1)).what, What::pass) << "this home heard it, and has its reasons";
  const auto parked = carried.given(numbered(2));
  EXPECT_EQ(parked.what, What::say_again);
  EXPECT_EQ(parked.said.refused, Nack::park);
  EXPECT_EQ(parked.said.reason, "bad");
  carried.moved();
  EXPECT_EQ(carried.given(numbered(2)).what, What::say_again) << "and the next one as well";
}

TEST(CarriedEvents, WhatHeSaysBetweenTwoHomesIsSaidToTheNext) {
  CarriedEvents carried;
  (void)carried.given(numbered(1));
  (void)carried.given(numbered(2));
  carried.moved();
  carried.said(numbered(1), {});
  carried.said(numbered(2), {Nack::retry, "later"});
  EXPECT_EQ(carried.given(numbered(1)).what, What::say_again) << "it was the old home's, the new one knows nothing";
  EXPECT_EQ(carried.given(numbered(2)).what, What::pass) << "he wanted it again";
}

TEST(CarriedEvents, RemembersTheLastOnes) {
  CarriedEvents carried;
  EventId id;
  for (std::size_t i = 0; i <= CarriedEvents::said_max; ++i) {
    id.bytes[0] = static_cast<std::uint8_t>(i);
    id.bytes[1] = static_cast<std::uint8_t>(i >> 8);
    (void)carried.given(id);
    carried.said(id, {});
  }
  carried.moved();
  EXPECT_EQ(carried.given(id).what, What::say_again);
  EXPECT_EQ(carried.given(EventId{}).what, What::pass) << "the first one is forgotten";
}

}  // namespace
}  // namespace evershard::kurrent
