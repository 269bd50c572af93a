#include "evershard/sharding/leadership.hpp"

#include <gmock/gmock.h>

namespace evershard::sharding {
namespace {

using testing::HasSubstr;

const EventId one = *EventId::parse("00000000-0000-4000-8000-000000000001");
const EventId other = *EventId::parse("00000000-0000-4000-8000-000000000002");

Leaderships led(std::initializer_list<std::pair<std::uint64_t, EventId>> by) {
  Leaderships all;
  for (const auto& [epoch, identity] : by) all.push_back({Epoch{epoch}, identity});
  return all;
}

TEST(Leadership, IsOfOneHistoryWhereTheCommonEpochsAgree) {
  EXPECT_TRUE(check_one_history(led({{1, one}, {2, other}}), led({{2, other}})));
  EXPECT_TRUE(check_one_history(led({{1, one}}), led({{1, one}, {2, other}})))
      << "one has heard of a newer coordinator, the other has not yet";
}

TEST(Leadership, IsOfTwoHistoriesWhereOneEpochWasLedByTwo) {
  const auto apart = check_one_history(led({{1, one}, {2, one}}), led({{1, one}, {2, other}, {3, one}}));

  ASSERT_FALSE(apart);
  EXPECT_EQ(apart.error().code, ErrorCode::fenced);
  EXPECT_THAT(apart.error().what,
              HasSubstr("epoch 2 was led by " + one.text() + " here and by " + other.text() + " there"));
}

TEST(Leadership, IsUnknownWithoutACommonEpoch) {
  const auto unknown = check_one_history(led({{1, one}, {2, one}}), led({{3, other}}));

  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::unavailable);
}

TEST(Leadership, IsOneWhereTheNewestIs) {
  EXPECT_TRUE(check_one_leader(led({{1, one}, {2, other}}), led({{2, other}})));
  EXPECT_EQ(check_one_leader(led({{1, one}}), led({{1, one}, {2, other}})).error().code, ErrorCode::unavailable);
  EXPECT_EQ(check_one_leader(led({{1, one}, {2, other}}), led({{1, one}})).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(check_one_leader({}, led({{1, one}})));
}

TEST(Leadership, OfAReleaseThatDoesNotSayIsTaken) {
  EXPECT_TRUE(check_one_history({}, led({{3, other}})));
  EXPECT_TRUE(check_one_history(led({{3, other}}), {}));
}

TEST(Leadership, KeepsTheNewest) {
  Leaderships all;
  for (std::uint64_t epoch = 1; epoch <= leaderships_kept + 3; ++epoch) add_leadership(all, {Epoch{epoch}, one});

  EXPECT_EQ(all.size(), leaderships_kept);
  EXPECT_FALSE(leader_of(all, Epoch{3}).given());
  EXPECT_EQ(leader_of(all, Epoch{4}), one);
  EXPECT_EQ(newest_of(all, 1), led({{leaderships_kept + 3, one}}));
  EXPECT_EQ(newest_of(led({{7, one}}), 8), led({{7, one}}));
}

}  // namespace
}  // namespace evershard::sharding
