// What a node is given by several others is what it would have applied itself: random orders, sets and pages.

#include "evershard/cluster/order/history_merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "evershard/sharding/node_cut.hpp"

namespace evershard::cluster {
namespace {

using sharding::Cut;
using sharding::Segment;

constexpr std::uint16_t merge_shards = 5;

struct Place {
  ShardId shard;
  ShardOffset offset;
  friend bool operator==(const Place&, const Place&) = default;
};

/// An order, and what nodes keep of it.
class MergedHistory : public testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    std::vector<ShardOffset> next(merge_shards, ShardOffset{1});
    GlobalPosition position{1};
    for (std::uint64_t number = 1; number <= 60; ++number) {
      Cut cut{CutNumber{number}, Epoch{1}, position, {}, {}};
      const bool places = pick(3) != 0;
      for (std::uint16_t s = 0; s != merge_shards; ++s) {
        if (pick(3) != 0) continue;
        Segment segment{ShardId{s}, Epoch{1 + number / 20}, next[s], next[s] + 1 + pick(4), {}};
        for (auto offset = segment.first; offset < segment.end; ++offset)
          if (!places || pick(3) == 0) segment.refused.push_back(offset);
        next[s] = segment.end;
        auto at = position;
        for (auto offset = segment.first; offset < segment.end; ++offset)
          if (std::ranges::find(segment.refused, offset) == segment.refused.end()) {
            order_[at] = {ShardId{s}, offset};
            ++at;
          }
        position = at;
        cut.segments.push_back(std::move(segment));
      }
      cuts_.push_back(cut);
      covered_at_[cut.number] = next;
    }
  }
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  /// As a store keeps them: what cuts refused that placed nothing is in the next row; what names none of its shards may
  /// have been folded, and is part of the next one.
  /// Behind the rows, what was refused since: `left`.
  [[nodiscard]] std::vector<Cut> rows_of(const std::set<std::uint16_t>& keeps, std::uint64_t up_to,
                                         std::vector<Segment>& left) {
    const auto own = [&](const Segment& segment) { return keeps.contains(segment.shard.value); };
    std::vector<Cut> rows;
    std::vector<Segment> refused;
    std::uint64_t folded = 0;
    for (const Cut& cut : cuts_) {
      if (cut.number.value > up_to) break;
      const bool names = std::ranges::any_of(cut.segments, own);
      if (cut.events() == 0) {
        std::ranges::copy_if(cut.segments, std::back_inserter(refused), own);
        continue;
      }
      if (!names && cut.last_position() != cuts_[up_to - 1].last_position() && pick(2) == 0) {
        folded += cut.events();
        continue;
      }
      Cut row = sharding::cut_of_node(cut, own, {});
      if (folded != 0) {
        row.segments.insert(row.segments.begin(), Segment::elsewhere(folded));
        row.first_position = GlobalPosition{row.first_position.value - std::exchange(folded, 0)};
      }
      row.segments.insert(row.segments.begin(), refused.begin(), refused.end());
      refused.clear();
      rows.push_back(std::move(row));
    }
    left = std::move(refused);
    return rows;
  }
  [[nodiscard]] NodeHistory given(const std::set<std::uint16_t>& keeps, std::uint64_t up_to, GlobalPosition after) {
    NodeHistory history;
    history.last_cut = CutNumber{up_to};
    history.watermark = cuts_[up_to - 1].last_position();
    const auto most = 1 + pick(8);
    auto next = after + 1;
    std::vector<Segment> left;
    for (auto& row : rows_of(keeps, up_to, left)) {
      if (row.last_position() < next) continue;
      if (history.cuts.size() == most) return history;
      next = row.last_position() + 1;
      history.cuts.push_back(std::move(row));
    }
    if (!left.empty()) history.cuts.push_back({history.last_cut, Epoch{1}, history.watermark + 1, std::move(left), {}});
    for (const auto s : keeps) history.ends.push_back({ShardId{s}, covered_at_.at(CutNumber{up_to})[s], Epoch{4}, 2});
    return history;
  }

  std::mt19937_64 random_{GetParam()};
  std::vector<Cut> cuts_;
  std::map<GlobalPosition, Place> order_;
  std::map<CutNumber, std::vector<ShardOffset>> covered_at_;
};

TEST_P(MergedHistory, IsWhatTheNodeWouldHaveAppliedAndSaysNoMoreThanItHas) {
  const std::vector<std::set<std::uint16_t>> nodes{{0, 1, 2}, {2, 3, 4}, {0, 3}, {1, 4}, {0, 1, 2, 3, 4}};
  std::set<std::uint16_t> wanted;
  while (wanted.empty())
    for (std::uint16_t s = 0; s != merge_shards; ++s)
      if (pick(2) == 0) wanted.insert(s);

  std::vector<ShardOffset> covered(merge_shards, ShardOffset{1});
  GlobalPosition watermark;
  CutNumber number;
  for (int round = 0;; ++round) {
    ASSERT_LT(round, 1'000) << "it does not come to an end";
    std::vector<HistoryPart> parts;
    std::set<std::uint16_t> left = wanted;
    while (!left.empty()) {
      const auto& keeps = nodes[pick(nodes.size())];
      HistoryPart part;
      for (const auto s : keeps)
        if (left.erase(s) != 0) part.shards.push_back(ShardId{s});
      if (part.shards.empty()) continue;
      part.history = given(keeps, round < 50 ? 40 + pick(21) : 60, watermark);
      parts.push_back(std::move(part));
    }
    const auto history = merged(watermark, parts);
    ASSERT_TRUE(history) << history.error().what;
    for (const Cut& cut : history->cuts) {
      ASSERT_EQ(cut.first_position, watermark + 1);
      auto at = cut.first_position;
      for (const Segment& segment : cut.segments) {
        if (segment.is_elsewhere()) {
          for (auto last = at + segment.events(); at < last; ++at)
            ASSERT_FALSE(wanted.contains(order_.at(at).shard.value)) << "position " << at.value;
          continue;
        }
        auto& end = covered[segment.shard.value];
        ASSERT_LE(segment.first, end);
        for (auto offset = segment.first; offset < segment.end; ++offset) {
          const bool refused = std::ranges::find(segment.refused, offset) != segment.refused.end();
          if (!refused) {
            ASSERT_EQ(order_.at(at), (Place{segment.shard, offset}));
            ++at;
          }
          ASSERT_TRUE(refused || offset >= end) << "placed twice";
        }
        end = std::max(end, segment.end);
      }
      ASSERT_EQ(at, cut.last_position() + 1);
      watermark = cut.last_position();
      number = cut.number;
      if (cut.number < history->last_cut || &cut != &history->cuts.back()) {
        ASSERT_EQ(watermark, cuts_[number.value - 1].last_position()) << "cut " << number.value;
      }
    }
    ASSERT_EQ(watermark, history->watermark);
    for (const auto& end : history->ends) {
      for (auto& offset = covered[end.shard.value]; offset < end.end; ++offset)
        for (const auto& [at, place] : order_) ASSERT_FALSE((place == Place{end.shard, offset})) << "is placed";
    }
    if (!history->cuts.empty()) {
      ASSERT_LE(number, history->last_cut);
    }
    // To hold that cut says that all up to it is here.
    if (history->last_cut.value == 0) continue;
    for (const auto s : wanted) ASSERT_GE(covered[s], covered_at_.at(history->last_cut)[s]) << "shard " << s;
    if (history->complete && history->last_cut == CutNumber{60}) break;
  }
  for (const auto s : wanted) EXPECT_EQ(covered[s], covered_at_.at(CutNumber{60})[s]);
}

INSTANTIATE_TEST_SUITE_P(Seeds, MergedHistory, testing::Range(1u, 400u));

TEST(MergedHistoryRefuses, TwoReplicasThatDiffer) {
  const auto row = [](std::uint16_t shard) {
    return Cut{CutNumber{1},
               Epoch{1},
               GlobalPosition{1},
               {{ShardId{shard}, Epoch{1}, ShardOffset{1}, ShardOffset{3}, {}}},
               {}};
  };
  const std::vector<HistoryPart> parts{{{{row(0)}, CutNumber{1}, GlobalPosition{2}, {}}, {ShardId{0}}},
                                       {{{row(1)}, CutNumber{1}, GlobalPosition{2}, {}}, {ShardId{1}}}};
  const auto both = merged(GlobalPosition{0}, parts);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::corruption);
  EXPECT_TRUE(merged(GlobalPosition{0}, {})->cuts.empty());
}

}  // namespace
}  // namespace evershard::cluster
