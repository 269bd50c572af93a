// A search for the last position at or before a time, over events that are only numbers.

#include "evershard/api/position_at.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace evershard {
namespace {

/// A history of any length: each event is made when it is looked at.
class MadeHistory {
 public:
  using TimeOf = std::function<std::optional<std::int64_t>(std::uint64_t position)>;
  MadeHistory(std::uint64_t head, TimeOf time_of) : head_(head), time_of_(std::move(time_of)) {}

  std::uint64_t at(std::int64_t micros) {
    looks = events = 0;
    const auto found = position_at(Timestamp{micros}, GlobalPosition(head_),
                                   [this](GlobalPosition after, std::uint64_t limit) { return look(after, limit); });
    EXPECT_TRUE(found) << found.error().what;
    return found ? found->value : 0;
  }

  std::uint64_t looks = 0, events = 0;

 private:
  Result<std::vector<DatedEvent>> look(GlobalPosition after, std::uint64_t limit) {
    ++looks;
    std::vector<DatedEvent> found;
    for (auto position = after.value + 1; position <= head_ && found.size() < limit; ++position) {
      found.push_back({GlobalPosition(position), std::nullopt});
      if (const auto micros = time_of_(position)) found.back().at = Timestamp{*micros};
    }
    events += found.size();
    return found;
  }

  const std::uint64_t head_;
  const TimeOf time_of_;
};

std::optional<std::int64_t> in_order(std::uint64_t position) { return static_cast<std::int64_t>(position); }

constexpr std::uint64_t ten_million = 10'000'000;

TEST(PositionAt, IsFoundWithFewReads) {
  MadeHistory history(ten_million, in_order);
  for (const std::uint64_t wanted : {1ul, 2ul, 1'000ul, 1'234'567ul, 5'000'000ul, ten_million - 1, ten_million}) {
    EXPECT_EQ(history.at(static_cast<std::int64_t>(wanted)), wanted);
    EXPECT_LE(history.looks, 40u) << wanted;
    EXPECT_LE(history.events, 1'500u) << wanted;
  }
  EXPECT_EQ(history.at(0), 0u) << "nothing is that old";
  EXPECT_EQ(history.at(-1), 0u);
  EXPECT_EQ(history.at(1 << 30), ten_million);
}

TEST(PositionAt, OfNothingIsNothing) { EXPECT_EQ(MadeHistory(0, in_order).at(5), 0u); }

TEST(PositionAt, OfOneTimeIsItsLastEvent) {
  MadeHistory history(5'000, [](std::uint64_t position) { return static_cast<std::int64_t>(position / 1'500); });
  EXPECT_EQ(history.at(0), 1'499u);
  EXPECT_EQ(history.at(1), 2'999u);
  EXPECT_EQ(history.at(3), 5'000u);
}

// Callers may say any time: one event of many does not lead far away.
TEST(PositionAt, DoesNotGoByASingleEvent) {
  MadeHistory of_long_ago(
      ten_million, [](std::uint64_t position) { return position % 50 == 0 ? 0 : static_cast<std::int64_t>(position); });
  MadeHistory to_come(ten_million, [](std::uint64_t position) {
    return position % 5'000 == 0 ? static_cast<std::int64_t>(ten_million) : static_cast<std::int64_t>(position);
  });
  for (std::uint64_t wanted = 3'123; wanted < ten_million; wanted += 1'000'000) {
    EXPECT_EQ(of_long_ago.at(static_cast<std::int64_t>(wanted)), wanted);
    EXPECT_EQ(to_come.at(static_cast<std::int64_t>(wanted)), wanted);
  }
  EXPECT_EQ(to_come.at(5'000'700), 4'999'999u) << "none of the thousand in front of the answer is later";
}

TEST(PositionAt, PassesOverRemovedEvents) {
  MadeHistory oldest_gone(
      ten_million, [](std::uint64_t position) { return position > 6'000'000 ? in_order(position) : std::nullopt; });
  EXPECT_EQ(oldest_gone.at(7'000'000), 7'000'000u);
  EXPECT_LE(oldest_gone.looks, 400u);
  EXPECT_LE(oldest_gone.events, 3'000u);
  for (const std::int64_t wanted : {6'000'001, 6'000'007, 6'000'300, 6'123'456}) {
    EXPECT_EQ(oldest_gone.at(wanted), static_cast<std::uint64_t>(wanted));
    EXPECT_LE(oldest_gone.looks, 1'000u);
  }
  EXPECT_EQ(oldest_gone.at(3'000'000), 0u) << "nothing that is known to be that old";

  MadeHistory newest_gone(
      ten_million, [](std::uint64_t position) { return position <= 6'000'000 ? in_order(position) : std::nullopt; });
  EXPECT_EQ(newest_gone.at(5'000'000), 5'000'000u);
  EXPECT_EQ(newest_gone.at(7'000'000), 6'000'000u);

  MadeHistory some_gone(ten_million, [](std::uint64_t position) {
    return position <= 4'000'000 || position > 4'050'000 || position == 4'030'000 ? in_order(position) : std::nullopt;
  });
  EXPECT_EQ(some_gone.at(4'020'000), 4'000'000u);
  EXPECT_EQ(some_gone.at(4'040'000), 4'030'000u) << "one that is left among them is found";
  EXPECT_EQ(some_gone.at(4'050'001), 4'050'001u);

  MadeHistory all_gone(ten_million, [](std::uint64_t) { return std::nullopt; });
  EXPECT_EQ(all_gone.at(5), 0u);
  EXPECT_LE(all_gone.events, dated_gap_max + 10'000) << "it gives up";
}

TEST(PositionAt, SaysWhatCannotBeRead) {
  const auto found = position_at(Timestamp{5}, GlobalPosition(9), [](GlobalPosition, std::uint64_t) {
    return Result<std::vector<DatedEvent>>(refuse(ErrorCode::corruption, "event 5 is damaged"));
  });
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::corruption);
}

/// What position_at() promises where times are out of order by no more than dated_out_of_order_max: read from the first
/// event on.
std::uint64_t defined(const std::vector<DatedEvent>& events, Timestamp at) {
  std::uint64_t found = 0;
  for (std::size_t begin = 0; begin < events.size(); begin += events[begin].append_events) {
    bool earlier = false;
    for (std::size_t i = begin; i != begin + events[begin].append_events; ++i) {
      if (!events[i].at) continue;
      if (*events[i].at > at) return found;
      earlier = true;
    }
    if (earlier) found = begin + events[begin].append_events;
  }
  return found;
}

TEST(PositionAt, IsWhatAReadFromTheFirstEventOnFinds) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](std::size_t bound) {
      return bound == 0 ? 0u : static_cast<std::uint32_t>(random() % bound);
    };
    const auto count = below(6'000), late = below(dated_out_of_order_max), gone_of_100 = below(4) * 30,
               append_max = 1 + below(2) * below(30);
    std::vector<DatedEvent> events;
    while (events.size() < count) {
      const auto size = 1 + below(append_max);
      for (std::uint32_t index = 0; index != size; ++index) {
        const auto position = events.size() + 1;
        events.push_back(
            {GlobalPosition(position), Timestamp{static_cast<std::int64_t>(position + below(late))}, index, size});
        if (below(100) < gone_of_100) events.back().at.reset();
      }
    }
    const auto look = [&](GlobalPosition after, std::uint64_t limit) {
      const auto begin = std::min<std::size_t>(after.value, events.size());
      const auto end = std::min<std::size_t>(begin + limit, events.size());
      return Result<std::vector<DatedEvent>>(std::vector<DatedEvent>(
          events.begin() + static_cast<std::ptrdiff_t>(begin), events.begin() + static_cast<std::ptrdiff_t>(end)));
    };
    for (int asked = 0; asked != 50; ++asked) {
      const Timestamp at{static_cast<std::int64_t>(below(events.size() + late + 2))};
      const auto found = position_at(at, GlobalPosition(events.size()), look);
      ASSERT_TRUE(found);
      ASSERT_EQ(found->value, defined(events, at)) << "at " << at.micros << " of " << events.size();
    }
  }
}

}  // namespace
}  // namespace evershard
