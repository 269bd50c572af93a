// Ordering in one process: decided before the write.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "evershard/sharding/ordering.hpp"
#include "tests/sharding/fresh_state.hpp"

namespace evershard::sharding {
namespace {

using testing::ElementsAre;
using Kind = Verdict::Kind;

TermCondition no_event_with(std::vector<Term> all, std::uint64_t from) {
  return {TermQuery{false, {{{}, std::move(all)}}}, GlobalPosition{from}};
}

GlobalPosition place(Ordering& ordering, const std::vector<std::pair<std::uint16_t, std::vector<Term>>>& events,
                     std::vector<ShardOffset>* offsets = nullptr) {
  std::vector<EventToPlace> to_place;
  for (const auto& [shard, terms] : events) to_place.push_back({ShardId{shard}, terms});
  std::vector<ShardOffset> given(events.size());
  const GlobalPosition first = ordering.place(to_place, given);
  if (offsets != nullptr) *offsets = given;
  return first;
}

TEST(OrderingInOneProcess, PlacesInTheOrderOfDecisions) {
  Ordering ordering(fresh(3), {});
  std::vector<ShardOffset> offsets;

  EXPECT_EQ(place(ordering, {{1, {}}, {0, {}}, {1, {}}, {1, {}}}, &offsets), GlobalPosition{1});
  EXPECT_EQ(place(ordering, {{1, {}}}), GlobalPosition{5});

  EXPECT_THAT(offsets, ElementsAre(ShardOffset{1}, ShardOffset{1}, ShardOffset{2}, ShardOffset{3}));
  EXPECT_EQ(ordering.next_position(), GlobalPosition{6});
  EXPECT_EQ(ordering.state(), fresh(3)) << "as of the last cut";
  const Cut cut = ordering.cut();
  EXPECT_THAT(cut.segments, ElementsAre(Segment{ShardId{1}, Epoch{1}, ShardOffset{1}, ShardOffset{2}, {}},
                                        Segment{ShardId{0}, Epoch{1}, ShardOffset{1}, ShardOffset{2}, {}},
                                        Segment{ShardId{1}, Epoch{1}, ShardOffset{2}, ShardOffset{5}, {}}));
  EXPECT_EQ(cut.number, CutNumber{1});
  EXPECT_EQ(cut.first_position, GlobalPosition{1});
  EXPECT_EQ(ordering.state().watermark, GlobalPosition{5});
  EXPECT_EQ(ordering.state().shards[1].next, ShardOffset{5});
}

TEST(OrderingInOneProcess, JudgesAgainstWhatWasPlacedBefore) {
  Ordering ordering(fresh(2), {});
  place(ordering, {{0, {7}}, {1, {8}}});
  static_cast<void>(ordering.cut());
  place(ordering, {{1, {7, 9}}});

  const auto judge = [&](std::vector<TermCondition> conditions) { return ordering.judge(conditions); };
  EXPECT_EQ(judge({}).kind, Kind::placed);
  EXPECT_EQ(judge({no_event_with({7}, 3), no_event_with({4}, 0)}).kind, Kind::placed);
  EXPECT_EQ(judge({no_event_with({4}, 0), no_event_with({7}, 1)}), (Verdict{Kind::matched, 1, GlobalPosition{3}}));
  EXPECT_EQ(judge({no_event_with({7}, 0)}), (Verdict{Kind::matched, 0, GlobalPosition{1}}));
  EXPECT_EQ(judge({no_event_with({7}, 99)}).kind, Kind::placed) << "beyond the head";
  EXPECT_EQ(judge({{TermQuery{true, {}}, GlobalPosition{2}}}), (Verdict{Kind::matched, 0, GlobalPosition{3}}));
}

TEST(OrderingInOneProcess, BeginsWithoutMemoryAndSaysSo) {
  OrderState state = fresh(2);
  state.watermark = GlobalPosition{50};
  state.shards[1].next = ShardOffset{30};
  Ordering ordering(state, {});

  EXPECT_EQ(ordering.window_from(), GlobalPosition{50});
  EXPECT_EQ(ordering.judge(std::vector{no_event_with({7}, 49)}), (Verdict{Kind::stale, 0, {}}));
  EXPECT_EQ(ordering.judge(std::vector{no_event_with({7}, 50)}).kind, Kind::placed);
  std::vector<ShardOffset> offsets;
  EXPECT_EQ(place(ordering, {{1, {}}}, &offsets), GlobalPosition{51});
  EXPECT_THAT(offsets, ElementsAre(ShardOffset{30}));
}

TEST(OrderingInOneProcessDeathTest, KnowsItsShardsAndMakesNoEmptyCut) {
  Ordering ordering(fresh(2), {});

  EXPECT_DEATH(place(ordering, {{2, {}}}), "the shard exists");
  EXPECT_DEATH(static_cast<void>(ordering.cut()), "has events");
}

// Random appends over any shards, with and without conditions, against everything written down one after another.
TEST(OrderingInOneProcess, EqualsAList) {
  for (std::uint64_t seed = 1; seed != 600; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::uint16_t shards = static_cast<std::uint16_t>(1 + random() % 5);
    OrderState state = fresh(shards);
    state.watermark = GlobalPosition{random() % 3};
    Ordering ordering(state, {.window_events_max = 2 + random() % 40});
    std::vector<std::vector<Term>> list(state.watermark.value + 1);  // by position
    std::vector<std::pair<std::uint16_t, std::uint64_t>> since;      // shard and offset, since the last cut
    std::vector<std::uint64_t> next(shards, 1);

    for (int step = 0; step != 200; ++step) {
      std::vector<TermCondition> conditions;
      for (std::size_t n = random() % 3; n != 0; --n) {
        conditions.push_back(no_event_with({1 + random() % 9},
                                           list.size() - 1 - std::min<std::uint64_t>(random() % 12, list.size() - 1)));
      }
      Verdict expected;
      for (std::uint32_t c = 0; c != conditions.size() && expected.kind == Kind::placed; ++c) {
        if (conditions[c].from < ordering.window_from()) expected = {Kind::stale, c, {}};
        for (std::uint64_t p = conditions[c].from.value + 1; p < list.size() && expected.kind == Kind::placed; ++p) {
          if (std::count(list[p].begin(), list[p].end(), conditions[c].query.items[0].all[0]) != 0) {
            expected = {Kind::matched, c, GlobalPosition{p}};
          }
        }
      }
      const Verdict verdict = ordering.judge(conditions);
      ASSERT_EQ(verdict, expected);

      if (verdict.kind == Kind::placed) {
        std::vector<std::pair<std::uint16_t, std::vector<Term>>> events;
        for (std::size_t n = 1 + random() % 4; n != 0; --n) {
          events.push_back({static_cast<std::uint16_t>(random() % shards), {1 + random() % 9, 1 + random() % 9}});
        }
        std::vector<ShardOffset> offsets;
        ASSERT_EQ(place(ordering, events, &offsets), GlobalPosition{list.size()});
        for (std::size_t i = 0; i != events.size(); ++i) {
          ASSERT_EQ(offsets[i], ShardOffset{next[events[i].first]});
          since.emplace_back(events[i].first, next[events[i].first]++);
          list.push_back(events[i].second);
        }
        ASSERT_LE(ordering.window_from(), GlobalPosition{list.size() - 2}) << "the newest event is always covered";
      }
      if (since.empty() || random() % 4 != 0) continue;

      const OrderState before = ordering.state();
      const Cut cut = ordering.cut();
      ASSERT_EQ(cut.number, before.last_cut + 1);
      ASSERT_EQ(cut.first_position, before.watermark + 1);
      ASSERT_EQ(cut.last_position(), GlobalPosition{list.size() - 1});
      std::vector<std::pair<std::uint16_t, std::uint64_t>> sequence;
      for (std::size_t i = 0; i != cut.segments.size(); ++i) {
        const Segment& s = cut.segments[i];
        ASSERT_TRUE(s.refused.empty());
        ASSERT_TRUE(i == 0 || s.shard != cut.segments[i - 1].shard) << "neighbours of one shard are one segment";
        for (ShardOffset o = s.first; o < s.end; ++o) sequence.emplace_back(s.shard.value, o.value);
      }
      ASSERT_EQ(sequence, since);
      since.clear();
      for (std::uint16_t s = 0; s != shards; ++s) ASSERT_EQ(ordering.state().shards[s].next, ShardOffset{next[s]});
    }
  }
}

}  // namespace
}  // namespace evershard::sharding
