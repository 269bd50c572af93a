#include "evershard/sharding/route.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "evershard/sharding/stream_hash.hpp"

namespace evershard::sharding {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Event event(std::optional<AggregateId> aggregate, std::uint32_t n) {
  Event e;
  e.id = EventId::derived(*EventId::parse("00000000-0000-4000-8000-00000000abcd"), n);
  e.aggregate = std::move(aggregate);
  e.type = "Happened";
  return e;
}

TEST(Route, FollowsTheAggregate) {
  const AggregateId order{"order", "1"};

  EXPECT_EQ(shard_of(event(order, 1), EventId{}, 16), shard_of(stream_hash("order-1"), 16));
  EXPECT_EQ(shard_of(event(order, 2), event(order, 9).id, 16), shard_of(stream_hash("order-1"), 16));
}

TEST(Route, KeepsTheEventsWithoutAnAggregateOfAnAppendTogether) {
  Append append;
  for (std::uint32_t n = 0; n != 20; ++n) append.events.push_back(event(std::nullopt, n));

  EXPECT_THAT(shards_of(append, 16), ElementsAre(shard_of(event_hash(append.events[0].id), 16)));
}

TEST(Route, NamesTheShardsOfAnAppendAscendingAndOnce) {
  Append append;
  append.events.push_back(event(std::nullopt, 0));
  for (std::uint32_t n = 1; n != 200; ++n)
    append.events.push_back(event(AggregateId{"order", std::to_string(n % 40)}, n));

  const auto shards = shards_of(append, 7);

  EXPECT_EQ(shards.size(), 7u);
  EXPECT_TRUE(std::is_sorted(shards.begin(), shards.end()));
  EXPECT_THAT(shards_of(append, 1), ElementsAre(ShardId{0}));
  EXPECT_THAT(shards_of(Append{}, 7), IsEmpty());
}

// Chi-squared, 15 degrees of freedom: above 37.7 once in a thousand.
TEST(Route, SpreadsStreamsAndSingleEventsEvenly) {
  const auto chi_squared = [](auto shard) {
    std::map<std::uint16_t, double> counts;
    for (std::uint32_t n = 0; n != 16'000; ++n) ++counts[shard(n).value];
    double sum = 0;
    for (auto& [id, count] : counts) sum += (count - 1'000) * (count - 1'000) / 1'000;
    return counts.size() == 16 ? sum : INFINITY;
  };

  EXPECT_LT(chi_squared([](std::uint32_t n) { return shard_of(stream_hash("order-" + std::to_string(n)), 16); }), 37.7);
  EXPECT_LT(
      chi_squared([](std::uint32_t n) { return shard_of(event(std::nullopt, n), event(std::nullopt, n).id, 16); }),
      37.7);
}

}  // namespace
}  // namespace evershard::sharding
