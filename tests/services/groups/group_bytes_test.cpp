#include "evershard/services/groups/group_state_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard::actors {
namespace {

EventId id_filled_with(std::uint8_t byte) {
  EventId id;
  id.bytes.fill(byte);
  return id;
}

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const unsigned char c : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    hex += digits[c >> 4];
    hex += digits[c & 15];
  }
  return hex;
}

/// 1 parked, 2 waits for a retry, 3 acknowledged, 4 in flight and untouched.
GroupState sample_state() {
  GroupState state({.retry_jitter_percent = 0}, GlobalPosition(0), 1, 1);
  std::vector<GroupEvent> events;
  for (std::uint64_t i = 1; i <= 4; ++i)
    events.push_back({GlobalPosition(i), 0x0102030405060700 + i, id_filled_with(static_cast<std::uint8_t>(i))});
  state.read(events, GlobalPosition(300), 0);
  (void)state.join("w", 10, 5'000);
  for (const auto& out : state.deliver(5'000)) {
    if (out.position.value == 1) {
      EXPECT_TRUE(state.park(out.position, out.delivery, "why", 5'000, 2'000));
    }
    if (out.position.value == 2) {
      EXPECT_TRUE(state.reject(out.position, out.delivery, "later", {}, 5'000, 2'000));
    }
    if (out.position.value == 3) {
      EXPECT_TRUE(state.acknowledge(out.position, out.delivery, 5'000));
    }
  }
  return state;
}

TEST(GroupStateBytes, AreTheseBytes) {
  const auto bytes = GroupStateBytes::encode(sample_state(), {7, "fork-a"}, 6'000, 3'000);
  EXPECT_EQ(hex_of(bytes),
            "01"              // version
            "07"              // incarnation
            "06666f726b2d61"  // fork
            "00"              // start
            "03"              // read to: what is behind is untouched
            "01"
            "01"
            "00"
            "01"
            "00"
            "00"  // acknowledged, rejected, expired, parked, replayed, discarded
            "01"  // unsettled
            "02"
            "0102030405060702"
            "01"
            "b0e403"  // position, lane, attempts, due at 62,000 ms less 1,000 that passed, by the caller's clock
            "01"
            "03776879"  // reasons
            "01"        // parked
            "01"
            "0102030405060701"
            "01"
            "00"
            "01"
            "d00f"  // position, lane, attempts, behind, reason, when
            "03"    // marks
            "01"
            "01010101010101010101010101010101"
            "01"
            "02020202020202020202020202020202"
            "01"
            "03030303030303030303030303030303");
}

TEST(GroupStateBytes, AreReadAsTheyWereWritten) {
  const auto bytes = GroupStateBytes::encode(sample_state(), {7, "fork-a"}, 6'000, 3'000);
  auto decoded = GroupStateBytes::decode(bytes, {.retry_jitter_percent = 0}, 100, 3'000, 1, 50);
  ASSERT_TRUE(decoded);
  auto& state = decoded->state;
  EXPECT_EQ(decoded->kept, (GroupKept{7, "fork-a"}));
  EXPECT_EQ(GroupStateBytes::encode(state, decoded->kept, 101, 3'000), bytes);
  EXPECT_EQ(state.read_to(), GlobalPosition(3));
  EXPECT_EQ(state.position(), GlobalPosition(1));
  EXPECT_EQ(state.counters(), sample_state().counters());
  EXPECT_EQ(state.reason_of(state.parked().at(1)), "why");
  EXPECT_EQ(state.place().marks().size(), 3u);
  (void)state.join("w", 9, 59'000);
  (void)state.tick(59'099, 0);
  EXPECT_TRUE(state.deliver(59'099).empty());
  (void)state.tick(59'102, 0);
  const auto out = state.deliver(59'102);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].attempt, 2u);
  EXPECT_GE(out[0].delivery, 50u);
}

TEST(GroupStateBytes, AClockThatJumpedHoldsNothingBackForLongerThanASetWait) {
  const auto bytes = GroupStateBytes::encode(sample_state(), {7, "fork-a"}, 6'000, 3'000'000'000'000);
  auto decoded = GroupStateBytes::decode(bytes, {.retry_most = std::chrono::minutes(10), .retry_jitter_percent = 0},
                                         100, 3'000, 1, 50);
  ASSERT_TRUE(decoded);
  ASSERT_TRUE(decoded->state.next_due());
  EXPECT_LE(*decoded->state.next_due(), 101 + 600'000);
}

TEST(GroupStateBytes, WhateverIsCutOffOrChangedIsRefusedOrReadAsSomethingWhole) {
  const auto bytes = GroupStateBytes::encode(sample_state(), {7, "fork-a"}, 6'000, 3'000);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = GroupStateBytes::decode(bytes.substr(0, size), {}, 0, 0, 1, 1);
    ASSERT_FALSE(decoded) << size;
    EXPECT_EQ(decoded.error().code, ErrorCode::corruption);
  }
  EXPECT_FALSE(GroupStateBytes::decode(bytes + "x", {}, 0, 0, 1, 1));
  auto newer = bytes;
  newer[0] = 2;
  EXPECT_EQ(GroupStateBytes::decode(newer, {}, 0, 0, 1, 1).error().code, ErrorCode::invalid_argument);
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    for (const int change : {1, 0x7f, 0x80, 0xff}) {
      auto other = bytes;
      other[at] = static_cast<char>(other[at] ^ change);
      auto decoded = GroupStateBytes::decode(other, {}, 0, 0, 1, 1);
      if (!decoded) continue;
      (void)decoded->state.join("w", 100, 0);
      (void)decoded->state.deliver(0);
      (void)GroupStateBytes::encode(decoded->state, decoded->kept, 0, 0);
    }
  }
}

TEST(GroupStateBytes, StayBelowASnapshotsLimitHoweverMuchIsParked) {
  GroupSettings settings{.attempts_max = 1, .window = 10'000};
  GroupState state(settings, GlobalPosition(0), 1, 1);
  (void)state.join("w", 10'000, 0);
  std::uint64_t position = 1'000'000'000'000;
  for (int round = 0; round < 3; ++round) {
    std::vector<GroupEvent> events;
    for (auto room = state.room(); room > 0; --room)
      events.push_back({GlobalPosition(position += 1'000'000), position * 0x9e3779b97f4a7c15, id_filled_with(1)});
    state.read(events, GlobalPosition(position), 0);
    std::uint64_t one = 0;
    for (const auto& out : state.deliver(0)) {
      ASSERT_TRUE(state.reject(out.position, out.delivery, std::to_string(++one) + std::string(1'000, 'x'), {}, 0,
                               1'700'000'000'000));
    }
    if (round == 1) (void)state.replay_all(0);
  }
  EXPECT_GT(state.parked().size(), 5'000u);
  EXPECT_EQ(state.reason_of(state.parked().rbegin()->second), "(there is no room for more different reasons)");
  EXPECT_LT(GroupStateBytes::encode(state, {1, std::string(36, 'f')}, 0, 1'700'000'000'000).size(), 2u << 20);
}

}  // namespace
}  // namespace evershard::actors
