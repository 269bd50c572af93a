// Zeros ahead of a log: never onto what is written, never more than wanted.

#include "evershard/storage/rocks/zero_frontier.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace evershard::storage {
namespace {

constexpr std::uint64_t kilobyte = 1024;

TEST(ZeroFrontier, ASmallLogHasNone) {
  ZeroFrontier frontier(4'096 * kilobyte);

  ASSERT_TRUE(frontier.write(256 * kilobyte - 1));
  EXPECT_FALSE(frontier.fill());
  ASSERT_TRUE(frontier.write(1));
  EXPECT_EQ(frontier.fill(), (ZeroFrontier::Range{256 * kilobyte, 512 * kilobyte}));
}

TEST(ZeroFrontier, NobodyWritesWhereZerosArePutJustNow) {
  ZeroFrontier frontier(64 * kilobyte);
  ASSERT_TRUE(frontier.write(5'000));
  const auto range = frontier.fill();
  ASSERT_TRUE(range);
  ASSERT_EQ(*range, (ZeroFrontier::Range{8'192, 12'288}));

  EXPECT_TRUE(frontier.write(3'192));
  EXPECT_FALSE(frontier.write(1));
  EXPECT_FALSE(frontier.fill());
  frontier.filled();
  EXPECT_TRUE(frontier.write(1));
  EXPECT_EQ(frontier.written(), 8'193u);
}

TEST(ZeroFrontier, WhoWritesFasterThanZerosComeWritesBehindThem) {
  ZeroFrontier frontier(64 * kilobyte);
  ASSERT_TRUE(frontier.write(8'192));
  ASSERT_TRUE(frontier.fill());
  frontier.filled();
  ASSERT_TRUE(frontier.ends_in_zeros());

  ASSERT_TRUE(frontier.write(1'000'000));

  EXPECT_FALSE(frontier.ends_in_zeros());
  EXPECT_GE(frontier.fill()->from, 1'008'192u);
}

TEST(ZeroFrontier, WithoutAnyThereIsNothingToFill) {
  ZeroFrontier frontier(0);

  ASSERT_TRUE(frontier.write(10'000'000));

  EXPECT_FALSE(frontier.fill());
  EXPECT_FALSE(frontier.ends_in_zeros());
}

TEST(ZeroFrontier, WhoGivesUpHoldsNobodyUp) {
  ZeroFrontier frontier(64 * kilobyte);
  ASSERT_TRUE(frontier.write(8'192));
  ASSERT_TRUE(frontier.fill());
  ASSERT_FALSE(frontier.write(1));

  frontier.give_up();

  EXPECT_TRUE(frontier.ends_in_zeros()) << "some may have been put";
  EXPECT_TRUE(frontier.write(100'000));
  EXPECT_FALSE(frontier.fill());
}

/// Every byte of a file and whose it is, beside what the frontier says.
TEST(ZeroFrontier, AnyOrderOfWritingAndFillingKeepsWhatIsWritten) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::uint64_t most = (1 + random() % 32) * 16 * kilobyte;
    const std::uint64_t one_write = 1 + random() % 30'000;
    ZeroFrontier frontier(most);
    std::uint64_t written = 0, zeros_until = 0, under_way = 0;
    std::optional<ZeroFrontier::Range> filling;
    bool some = false;
    for (int step = 0; step < 400; ++step) {
      if (const std::uint64_t bytes = 1 + random() % one_write; random() % 2 == 0) {
        const bool may = frontier.write(bytes);
        ASSERT_EQ(may, !filling || written + bytes <= filling->from);
        if (may) written += bytes;
        zeros_until = std::max(zeros_until, written);
      } else if (filling) {
        frontier.filled();
        zeros_until = filling->until;
        filling.reset();
      } else if ((filling = frontier.fill())) {
        some = true;
        ASSERT_GE(filling->from, zeros_until) << "onto what is written, or zeros already";
        ASSERT_LT(filling->from, zeros_until + ZeroFrontier::page_bytes) << "a gap";
        ASSERT_LE(filling->until, written + most + most / ZeroFrontier::steps + 2 * ZeroFrontier::page_bytes);
        ASSERT_EQ(filling->from % ZeroFrontier::page_bytes, 0u);
      }
      under_way += filling.has_value();
      ASSERT_EQ(frontier.written(), written);
      ASSERT_EQ(frontier.ends_in_zeros(), filling || zeros_until > written);
    }
    ASSERT_EQ(some, under_way > 0);
    ASSERT_TRUE(some || written < most);
  }
}

}  // namespace
}  // namespace evershard::storage
