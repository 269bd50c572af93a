#include "evershard/storage/journal/snapshot_difference.hpp"

#include <gtest/gtest.h>

#include "tests/storage/random_values.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t any_size = 1u << 20;

/// Bytes are replaced, put in, taken out, moved.
std::string edited(std::string state, RandomValues& random) {
  for (auto left = random.below(6); left != 0; --left) {
    const auto at = random.below(state.size() + 1);
    const auto bytes = std::min<std::uint64_t>(random.below(200), state.size() - at);
    switch (random.below(4)) {
      case 0:
        state.replace(at, bytes, random.bytes(bytes));
        break;
      case 1:
        state.insert(at, random.bytes(random.below(100)));
        break;
      case 2:
        state.erase(at, bytes);
        break;
      default: {
        const auto moved = state.substr(at, bytes);
        state.erase(at, bytes);
        state.insert(random.below(state.size() + 1), moved);
      }
    }
  }
  return state;
}

TEST(SnapshotDifference, GivesTheStateBackThatItWasMadeFor) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    auto base = random.bytes(random.below(5'000));
    if (random.sometimes()) base += base + base;  // with stretches that are there more than once
    const auto state = random.below(10) == 0 ? random.bytes(random.below(500)) : edited(base, random);
    const auto difference = state_difference(base, state, any_size);
    ASSERT_TRUE(difference);
    const auto again = state_from_difference(base, *difference, state.size());
    ASSERT_TRUE(again) << again.error().what;
    ASSERT_EQ(*again, state);
    if (!state.empty()) {
      EXPECT_FALSE(state_from_difference(base, *difference, state.size() - 1));
      const auto less = state_difference(base, state, difference->size() / 2);
      EXPECT_FALSE(less);
    }
    EXPECT_TRUE(state_difference(base, state, difference->size() + state.size()));
  }
}

TEST(SnapshotDifference, IsAboutAsLongAsWhatIsNew) {
  RandomValues random(7);
  const auto base = random.bytes(200'000);
  auto state = base;
  state[3] = static_cast<char>(state[3] + 1);
  state.insert(100'000, "a few bytes more");
  state.erase(150'000, 300);
  const auto difference = state_difference(base, state, any_size);
  ASSERT_TRUE(difference);
  EXPECT_LT(difference->size(), 60u);
}

TEST(SnapshotDifference, OfDamagedBytesIsRefusedOrBounded) {
  RandomValues random(11);
  const auto base = random.bytes(2'000);
  const auto difference = state_difference(base, edited(base, random) + "more", any_size);
  ASSERT_TRUE(difference);
  const auto expect_bounded = [](const Result<std::string>& state) {
    if (state) {
      EXPECT_LE(state->size(), 10'000u);
    }
  };
  for (std::size_t bit = 0; bit != difference->size() * 8; ++bit) {
    auto damaged = *difference;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    expect_bounded(state_from_difference(base, damaged, 10'000));
  }
  for (std::size_t size = 0; size != difference->size(); ++size)
    expect_bounded(state_from_difference(base, difference->substr(0, size), 10'000));
}

}  // namespace
}  // namespace evershard::storage
