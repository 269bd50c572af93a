// Ordering at the coordinator, under random appends, reports in any order, doubled and stale, openings, new
// coordinators. Every cut is judged again by the final sequence alone. A failure is a seed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "evershard/sharding/ordering.hpp"

namespace evershard::sharding {
namespace {

/// An append as its client means it, and what became of it.
struct Plan {
  std::vector<std::pair<std::uint16_t, std::vector<Term>>> events;
  std::vector<TermCondition> conditions;
  bool digests = true;
  std::set<std::uint16_t> unwritten;             // shards whose part is still to come
  std::map<std::uint16_t, std::uint64_t> first;  // per shard, where its part of the present try stands
  std::set<std::uint16_t> refused;               // parts of the present try
  bool placed = false;
  int tries = 1;

  [[nodiscard]] std::set<std::uint16_t> shards() const {
    std::set<std::uint16_t> shards;
    for (const auto& [shard, terms] : events) shards.insert(shard);
    return shards;
  }
  [[nodiscard]] bool several() const { return shards().size() > 1; }
};

class World {
 public:
  explicit World(std::uint64_t seed)
      : random_(seed),
        shards_(static_cast<std::uint16_t>(2 + seed % 4)),
        logs_(shards_),
        epochs_(shards_, 1),
        ordering_(start(), options()) {}

  void step() {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
        plan();
        break;
      case 3:
      case 4:
      case 5:
        write();
        break;
      case 6:
      case 7:
        send(static_cast<std::uint16_t>(pick(shards_)));
        break;
      case 8:
      case 9:
        deliver();
        break;
      case 10:
        if (pick(3) == 0) make_cut();
        break;
      default:
        if (pick(8) == 0) rare();
        break;
    }
  }

  /// Everything written is reported, and cuts are made until there is nothing left: nothing may be stuck.
  void come_to_rest() {
    for (Plan& p : plans_) p.unwritten.clear();
    for (std::uint16_t s = 0; s != shards_; ++s) {
      in_flight_.clear();
      send(s, ordering_.known_end(ShardId{s}).value, logs_[s].size() + 1);
      while (!in_flight_.empty()) deliver();
    }
    int made = 0;
    while (make_cut()) ASSERT_LT(++made, 60) << "I-Live: cuts without end";
    for (std::uint16_t s = 0; s != shards_; ++s) {
      ASSERT_EQ(ordering_.state().shards[s].next, ShardOffset{logs_[s].size() + 1})
          << "I-Live: shard " << s << " is stuck";
    }
  }

  std::size_t cuts = 0, placed = 0, placed_over_several = 0, refused_by_match = 0, refused_as_stale = 0, crossed = 0,
              refused_alone = 0;

 private:
  static constexpr Term vocabulary = 6;
  struct Entry {
    std::size_t plan;
    std::uint32_t index;  // which event of the append
    bool first;           // of its part
  };

  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  OrderState start() const {
    OrderState state;
    state.shards.resize(shards_);
    return state;
  }
  static Ordering::Options options() { return {.window_events_max = 100'000, .cuts_held_max = 2}; }

  void plan() {
    Plan p;
    std::vector<std::uint16_t> on{static_cast<std::uint16_t>(pick(shards_))};
    if (pick(2) == 0) {
      for (std::uint64_t n = 1 + pick(3); n != 0; --n) on.push_back(static_cast<std::uint16_t>(pick(shards_)));
    }
    for (std::uint64_t n = std::max<std::uint64_t>(on.size(), 1 + pick(3)); n != 0; --n) {
      p.events.emplace_back(on[n % on.size()], std::vector<Term>{1 + pick(vocabulary), 1 + pick(vocabulary)});
    }
    if (pick(2) == 0) {
      for (std::uint64_t n = 1 + pick(2); n != 0; --n) {
        p.conditions.push_back({TermQuery{false, {{{}, {1 + pick(vocabulary)}}}}, GlobalPosition{0}});
      }
    }
    p.digests = pick(8) != 0;
    p.unwritten = p.shards();
    plans_.push_back(std::move(p));
  }

  // The part of some append on one of its shards becomes durable: in any order, so that appends cross.
  void write() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i != plans_.size(); ++i) {
      if (!plans_[i].unwritten.empty() && (open.size() < 3 || pick(20) == 0)) open.push_back(i);
    }
    if (open.empty()) return;
    const std::size_t i = open[pick(open.size())];
    Plan& p = plans_[i];
    auto at = p.unwritten.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(pick(p.unwritten.size())));
    const std::uint16_t shard = *at;
    p.unwritten.erase(at);
    p.first[shard] = logs_[shard].size() + 1;
    for (std::uint32_t e = 0, first = 1; e != p.events.size(); ++e) {
      if (p.events[e].first == shard) logs_[shard].push_back({i, e, std::exchange(first, 0u) != 0});
    }
    // `from`: mostly near the head, as whoever has read up to there and seen no match would have it.
    auto conditions = p.conditions;
    const std::uint64_t head = sequence_.size() - 1;
    for (TermCondition& c : conditions)
      c.from = GlobalPosition{pick(10) == 0 ? pick(head + 3) : head - std::min(head, pick(6))};
    conditions_of_[{shard, p.first[shard]}] = std::move(conditions);
  }

  void send(std::uint16_t shard) {
    const std::uint64_t known = ordering_.known_end(ShardId{shard}).value;
    const std::uint64_t back = pick(6);
    const std::uint64_t first = known > back ? known - back + (pick(10) == 0 ? 4 : 0) : 1;
    send(shard, first, first + pick(8) + 1);
  }
  // Appends that begin in [first, until).
  void send(std::uint16_t shard, std::uint64_t first, std::uint64_t until) {
    const auto& log = logs_[shard];
    while (first <= log.size() && !log[first - 1].first) ++first;
    Report report{ShardId{shard}, Epoch{epochs_[shard]}, ShardOffset{first}, {}};
    for (std::uint64_t o = first; o < until && o <= log.size();) {
      const Plan& p = plans_[log[o - 1].plan];
      ReportedAppend append;
      append.events = 0;
      do {
        if (p.digests) append.terms.push_back(p.events[log[o - 1].index].second);
        ++append.events;
        ++o;
      } while (o <= log.size() && !log[o - 1].first);
      append.conditions = conditions_of_.at({shard, o - append.events});
      append.tentative = p.several() || !append.conditions.empty();
      if (p.several()) {
        append.part = PartOf{id_of(log[o - append.events - 1].plan), {}};
        for (const auto& [s, terms] : p.events) append.part->runs.emplace_back(ShardId{s}, 1);
      }
      report.appends.push_back(std::move(append));
    }
    if (!report.appends.empty()) in_flight_.push_back(std::move(report));
  }
  static EventId id_of(std::size_t plan) {
    EventId id;
    id.bytes[14] = static_cast<std::uint8_t>(plan >> 8);
    id.bytes[15] = static_cast<std::uint8_t>(plan);
    id.bytes[0] = 1;
    return id;
  }

  // Any report in flight, perhaps not for the last time.
  void deliver() {
    if (in_flight_.empty()) return;
    const std::size_t i = pick(in_flight_.size());
    const Report report = in_flight_[i];
    if (pick(4) != 0) in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::uint64_t known = ordering_.known_end(report.shard).value;
    std::uint64_t end = report.first.value;
    for (const ReportedAppend& a : report.appends) end += a.events;
    const Reported expected = report.epoch.value < epochs_[report.shard.value] ? Reported::stale
                              : report.first.value > known                     ? Reported::gap
                              : end <= known                                   ? Reported::stale
                                                                               : Reported::taken;
    ASSERT_EQ(ordering_.report(report), expected);
    ASSERT_EQ(ordering_.known_end(report.shard).value, expected == Reported::taken ? end : known);
  }

  void rare() {
    if (pick(2) == 0) {
      const auto shard = static_cast<std::uint16_t>(pick(shards_));
      const auto epoch = ordering_.open(ShardId{shard}, 1, ShardOffset{logs_[shard].size() + 1});
      ASSERT_TRUE(epoch);
      ASSERT_EQ(*epoch, Epoch{++epochs_[shard]});
      openings_.push_back(shard);
    } else if (openings_.empty()) {
      OrderState state = ordering_.state();
      ++state.coordinator;
      ordering_ = Ordering(state, options());
      window_from_ = state.watermark.value;
    }
  }

  bool make_cut() {
    const OrderState before = ordering_.state();
    std::vector<std::uint64_t> ends;
    for (std::uint16_t s = 0; s != shards_; ++s) ends.push_back(ordering_.known_end(ShardId{s}).value);
    const auto cut = ordering_.make_cut();
    if (!cut) return false;
    ++cuts;
    check(*cut, before, ends);
    for (std::size_t i = 0; i != plans_.size(); ++i) try_again(plans_[i]);
    return true;
  }

  // By the shard of its first event, once all there is of it was refused: all parts anew.
  void try_again(Plan& p) {
    if (p.placed || p.refused.empty() || p.refused.size() != p.first.size() || p.tries == 4 || pick(2) == 0) return;
    ++p.tries;
    p.unwritten = p.shards();
    p.first.clear();
    p.refused.clear();
  }

  void check(const Cut& cut, const OrderState& before, const std::vector<std::uint64_t>& ends) {
    ASSERT_EQ(cut.number, before.last_cut + 1);
    ASSERT_EQ(cut.first_position, before.watermark + 1) << "I-Dense";
    ASSERT_EQ(cut.coordinator, before.coordinator);
    ASSERT_EQ(cut.openings.size(), openings_.size());
    openings_.clear();

    // The ranges: in each shard the next ones, of what was reported.
    std::vector<std::uint64_t> at, begin;
    for (const auto& shard : before.shards) at.push_back(shard.next.value);
    begin = at;
    std::vector<std::tuple<std::uint16_t, std::uint64_t, bool>> offsets;
    for (const Segment& s : cut.segments) {
      ASSERT_EQ(s.first.value, at[s.shard.value]);
      ASSERT_EQ(s.epoch.value, epochs_[s.shard.value]);
      at[s.shard.value] = s.end.value;
      ASSERT_LE(s.end.value, ends[s.shard.value]);
      for (ShardOffset o = s.first; o < s.end; ++o) {
        offsets.emplace_back(s.shard.value, o.value, std::count(s.refused.begin(), s.refused.end(), o) != 0);
      }
    }
    const auto in_this_cut = [&](const Plan& p) {
      return std::all_of(p.events.begin(), p.events.end(), [&](const auto& event) {
        const auto first = p.first.find(event.first);
        return first != p.first.end() && !p.refused.contains(event.first) && first->second >= begin[event.first] &&
               first->second < at[event.first];
      });
    };
    const auto rings = crossings(begin, at, in_this_cut);

    // The sequence: every event in its place, every verdict judged by what stands before it.
    std::map<std::size_t, std::uint32_t> progress;  // events placed of an append
    std::map<std::size_t, bool> verdicts;
    std::map<std::size_t, bool> stale;
    std::optional<std::size_t> under_way;
    for (const auto& [shard, offset, refused] : offsets) {
      const Entry& entry = logs_[shard][offset - 1];
      Plan& p = plans_[entry.plan];
      if (!verdicts.contains(entry.plan)) {
        auto conditions = conditions_of_[{shard, p.first.at(shard)}];
        if (in_this_cut(p)) {
          for (const std::uint16_t s : p.shards()) {
            const auto& theirs = conditions_of_[{s, p.first.at(s)}];
            for (std::size_t c = 0; c != conditions.size(); ++c)
              conditions[c].from = std::max(conditions[c].from, theirs[c].from);
          }
        }
        verdicts[entry.plan] = holds(conditions);
        stale[entry.plan] = std::any_of(conditions.begin(), conditions.end(),
                                        [&](const TermCondition& c) { return c.from.value < window_from_; });
      }
      const bool fits = verdicts[entry.plan] && !stale[entry.plan];
      if (!refused) {
        ASSERT_TRUE(verdicts[entry.plan]) << "I-Condition: append " << entry.plan;
        ASSERT_TRUE(fits) << "placed although the window does not reach back: append " << entry.plan;
        ASSERT_TRUE(in_this_cut(p)) << "I-Atomic: append " << entry.plan;
        ASSERT_TRUE(!under_way || *under_way == entry.plan) << "I-Together: append " << entry.plan;
        ASSERT_EQ(entry.index, progress[entry.plan]) << "I-Together: append " << entry.plan;
        ++progress[entry.plan];
        under_way = entry.plan;
        if (progress[entry.plan] == p.events.size()) {
          under_way.reset();
          p.placed = true;
          ++(p.several() ? placed_over_several : placed);
        }
        sequence_.push_back(p.events[entry.index].second);
        if (!p.digests) window_from_ = sequence_.size() - 1;
      } else {
        ASSERT_EQ(progress[entry.plan], 0u) << "I-Atomic: append " << entry.plan;
        ASSERT_TRUE(!under_way) << "I-Together: append " << entry.plan;
        p.refused.insert(shard);
        if (!fits) {
          ++(stale[entry.plan] ? refused_as_stale : refused_by_match);
        } else if (rings.contains(entry.plan)) {
          ++crossed;
        } else {
          ASSERT_TRUE(p.several()) << "refused without a reason: append " << entry.plan;
          const bool whole = std::all_of(p.events.begin(), p.events.end(), [&](const auto& event) {
            const auto first = p.first.find(event.first);
            return first != p.first.end() && first->second < ends[event.first] && first->second >= begin[event.first];
          });
          ASSERT_FALSE(whole) << "refused although all its parts were there: append " << entry.plan;
          ++refused_alone;
        }
      }
    }
    ASSERT_FALSE(under_way) << "I-Atomic: an append ends in the middle";
    ASSERT_EQ(ordering_.state().watermark.value, sequence_.size() - 1) << "I-Dense";
    ASSERT_EQ(ordering_.window_from().value, window_from_);
    for (std::uint16_t s = 0; s != shards_; ++s) ASSERT_EQ(ordering_.state().shards[s].next.value, at[s]);
  }

  bool holds(const std::vector<TermCondition>& conditions) const {
    return std::all_of(conditions.begin(), conditions.end(), [&](const TermCondition& c) {
      for (std::uint64_t p = c.from.value + 1; p < sequence_.size(); ++p) {
        if (std::count(sequence_[p].begin(), sequence_[p].end(), c.query.items[0].all[0]) != 0) return false;
      }
      return true;
    });
  }

  // Those that stand in a ring: a before b on some shard, b before c on another, ..., and at last before a.
  template <class Whole>
  std::set<std::size_t> crossings(const std::vector<std::uint64_t>& begin, const std::vector<std::uint64_t>& end,
                                  Whole whole) const {
    std::map<std::size_t, std::set<std::size_t>> before;
    for (std::uint16_t s = 0; s != shards_; ++s) {
      std::vector<std::size_t> seen;
      for (std::uint64_t o = begin[s]; o < end[s]; ++o) {
        const Entry& entry = logs_[s][o - 1];
        if (!entry.first || !plans_[entry.plan].several() || !whole(plans_[entry.plan])) continue;
        for (const std::size_t earlier : seen) before[entry.plan].insert(earlier);
        seen.push_back(entry.plan);
      }
    }
    for (std::size_t round = 0; round != before.size(); ++round) {
      for (auto& [later, earlier] : before) {
        const auto copy = earlier;
        for (const std::size_t e : copy) {
          if (const auto further = before.find(e); further != before.end())
            earlier.insert(further->second.begin(), further->second.end());
        }
      }
    }
    std::set<std::size_t> rings;
    for (const auto& [later, earlier] : before) {
      if (earlier.contains(later)) rings.insert(later);
    }
    return rings;
  }

  std::mt19937_64 random_;
  std::uint16_t shards_;
  std::vector<Plan> plans_;
  std::vector<std::vector<Entry>> logs_;  // per shard, by offset - 1
  std::vector<std::uint64_t> epochs_;
  std::map<std::pair<std::uint16_t, std::uint64_t>, std::vector<TermCondition>>
      conditions_of_;  // per part, by shard and offset
  std::vector<Report> in_flight_;
  std::vector<std::uint16_t> openings_;
  std::vector<std::vector<Term>> sequence_{{}};  // by position
  std::uint64_t window_from_ = 0;
  Ordering ordering_;
};

TEST(OrderingWalk, KeepsEveryInvariant) {
  std::size_t cuts = 0, placed = 0, placed_over_several = 0, refused_by_match = 0, refused_as_stale = 0, crossed = 0,
              refused_alone = 0;

  for (std::uint64_t seed = 1; seed != 1'500; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed);
    for (int i = 0; i != 300 && !testing::Test::HasFailure(); ++i) world.step();
    if (!testing::Test::HasFailure()) world.come_to_rest();
    ASSERT_FALSE(testing::Test::HasFailure());
    cuts += world.cuts;
    placed += world.placed;
    placed_over_several += world.placed_over_several;
    refused_by_match += world.refused_by_match;
    refused_as_stale += world.refused_as_stale;
    crossed += world.crossed;
    refused_alone += world.refused_alone;
  }

  // Not vacuous: everything that can happen did.
  EXPECT_GT(cuts, 3'000u);
  EXPECT_GT(placed, 10'000u);
  EXPECT_GT(placed_over_several, 1'000u);
  EXPECT_GT(refused_by_match, 1'000u);
  EXPECT_GT(refused_as_stale, 500u);
  EXPECT_GT(crossed, 200u);
  EXPECT_GT(refused_alone, 500u);
}

}  // namespace
}  // namespace evershard::sharding
