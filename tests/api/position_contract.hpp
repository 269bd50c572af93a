// What every store and every door answers that is asked for the position at a time.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/api/event_store.hpp"

namespace evershard {

inline Timestamp minute(int number) { return {1'700'000'000'000'000 + number * std::int64_t{60'000'000}}; }

/// An append of one event for each time, each of another aggregate.
inline void append_at(EventStore& events, const std::vector<Timestamp>& times) {
  Append append;
  for (const auto time : times) {
    append.event("order-" + std::to_string(append.events.size()), "Placed", "{}");
    append.events.back().occurred_at = time;
  }
  const auto done = events.append(std::move(append));
  ASSERT_TRUE(done) << done.error().what;
}

/// `events`: has none yet. `at`: asks, wherever the same store is asked.
inline void answers_positions_by_time(EventStore& events, const std::function<std::uint64_t(Timestamp)>& at) {
  EXPECT_EQ(at(minute(1)), 0u) << "of an empty store";
  append_at(events, {minute(1)});                        // 1
  append_at(events, {minute(2), minute(2), minute(2)});  // 2 to 4
  append_at(events, {minute(3), minute(5)});             // 5, 6
  append_at(events, {minute(6)});                        // 7
  append_at(events, {minute(1)});                        // 8, said to be of long ago
  append_at(events, {minute(8)});                        // 9
  append_at(events, {minute(7)});                        // 10, by a clock that is behind
  append_at(events, {minute(9)});                        // 11
  EXPECT_EQ(at(minute(0)), 0u) << "nothing is that old";
  EXPECT_EQ(at(Timestamp::first()), 0u);
  EXPECT_EQ(at(minute(1)), 1u);
  EXPECT_EQ(at({minute(2).micros - 1}), 1u);
  EXPECT_EQ(at(minute(2)), 4u);
  EXPECT_EQ(at(minute(4)), 4u) << "an append is not torn";
  EXPECT_EQ(at(minute(5)), 6u);
  EXPECT_EQ(at(minute(6)), 8u);
  EXPECT_EQ(at(minute(7)), 8u) << "nothing in front of it is later";
  EXPECT_EQ(at(minute(8)), 10u);
  EXPECT_EQ(at(minute(9)), 11u);
  EXPECT_EQ(at({Timestamp::now().micros + 3'600'000'000}), 11u) << "a time to come";
  EXPECT_EQ(at(Timestamp::last()), 11u);
}

}  // namespace evershard
