// Durations and sizes: what is taken, what is refused and how, and what is printed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>

#include "evershard/protocol/quantity.hpp"

namespace evershard {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(Quantity, ReadsDurations) {
  struct Case {
    const char* text;
    std::optional<std::int64_t> ms;       ///< with a unit needed
    std::optional<std::int64_t> seconds;  ///< where a bare number is seconds
    std::optional<std::int64_t> bare_ms;  ///< where a bare number is milliseconds
  };
  constexpr std::int64_t day = 86'400'000;
  const Case cases[] = {
      {"500ms", 500, 500, 500},
      {"12s", 12'000, 12'000, 12'000},
      {"5min", 300'000, 300'000, 300'000},
      {"5m", 300'000, 300'000, 300'000},
      {"2h", 7'200'000, 7'200'000, 7'200'000},
      {"90d", 90 * day, 90 * day, 90 * day},
      {"3 h", 10'800'000, 10'800'000, 10'800'000},
      {"0", 0, 0, 0},
      {"0s", 0, 0, 0},
      {"30", {}, 30'000, 30},
      {"", {}, {}, {}},
      {"s", {}, {}, {}},
      {"-1s", {}, {}, {}},
      {"+1s", {}, {}, {}},
      {"1.5h", {}, {}, {}},
      {"1S", {}, {}, {}},
      {"1y", {}, {}, {}},
      {"12 parsecs", {}, {}, {}},
      {"1h30min", {}, {}, {}},
      {"9223372036854775807h", {}, {}, {}},
      {"9223372036854775808ms", {}, {}, {}},
      {"18446744073709551616", {}, {}, {}},
  };
  for (const auto& [text, ms, seconds, bare_ms] : cases) {
    for (const auto& [bare, wanted] :
         {std::pair{BareNumber::refused, ms}, {BareNumber::seconds, seconds}, {BareNumber::milliseconds, bare_ms}}) {
      DurationRule rule;
      rule.bare = bare;
      const auto read = duration_from(text, "--wait", rule);
      ASSERT_EQ(read.has_value(), wanted.has_value()) << text;
      if (read) {
        EXPECT_EQ(read->count(), *wanted) << text;
      } else {
        EXPECT_EQ(read.error().code, ErrorCode::invalid_argument) << text;
        EXPECT_THAT(read.error().what, HasSubstr("--wait must be ")) << text;
      }
    }
  }
}

TEST(Quantity, ReadsSizes) {
  struct Case {
    const char* text;
    std::optional<std::uint64_t> bytes;
  };
  const Case cases[] = {
      {"4096", 4096},
      {"0", 0},
      {"7B", 7},
      {"64KiB", 65'536},
      {"64 KiB", 65'536},
      {"16MiB", 16u << 20},
      {"2GiB", 2ull << 30},
      {"1TiB", 1ull << 40},
      {"3KB", 3'000},
      {"3kB", 3'000},
      {"3MB", 3'000'000},
      {"1GB", 1'000'000'000},
      {"1TB", 1'000'000'000'000},
      {"", {}},
      {"MiB", {}},
      {"1mib", {}},
      {"1M", {}},
      {"1.5MiB", {}},
      {"-1", {}},
      {"+1", {}},
      {"0x10", {}},
      {"1 2", {}},
      {"1KiB KiB", {}},
      {"16777216TiB", {}},
      {"9223372036854775808", {}},
      {"18446744073709551616", {}},
  };
  for (const auto& [text, bytes] : cases) {
    const auto read = size_from(text, "max-size");
    ASSERT_EQ(read.has_value(), bytes.has_value()) << text;
    if (read) {
      EXPECT_EQ(*read, *bytes) << text;
    } else {
      EXPECT_THAT(read.error().what, HasSubstr("max-size must be ")) << text;
    }
  }
}

TEST(Quantity, SaysWhatItMustBe) {
  DurationRule rule{BareNumber::seconds, milliseconds(1'000), milliseconds(3'600'000), milliseconds(1'000)};
  const auto said = [&](const char* text) { return duration_from(text, "--ttl", rule).error().what; };

  EXPECT_EQ(said("soon"),
            "--ttl must be a duration such as 500ms, 12s, 5min, 2h or 90d (a bare number is seconds), is \"soon\"");
  EXPECT_EQ(said("0"), "--ttl must be at least 1s, is \"0\"");
  EXPECT_EQ(said("2h"), "--ttl must be at most 1h, is \"2h\"");
  EXPECT_EQ(said("1500ms"), "--ttl must be a multiple of 1s, is \"1500ms\"");
  EXPECT_EQ(duration_from("90", "--keep").error().what,
            "--keep must be a duration such as 500ms, 12s, 5min, 2h or 90d, is \"90\"");
  EXPECT_EQ(size_from("big", "--line", {}).error().what,
            "--line must be a size such as 4096, 64KiB, 16MiB or 1GB, is \"big\"");
  EXPECT_EQ(size_from("1KB", "--line", {1'024}).error().what, "--line must be at least 1KiB, is \"1KB\"");
  EXPECT_EQ(size_from("2KiB", "--line", {0, 2'000}).error().what, "--line must be at most 2000B, is \"2KiB\"");
}

TEST(Quantity, PrintsTheLargestUnitThatFits) {
  EXPECT_EQ(text_of_duration(milliseconds(0)), "0");
  EXPECT_EQ(text_of_duration(milliseconds(1'500)), "1500ms");
  EXPECT_EQ(text_of_duration(milliseconds(90'000)), "90s");
  EXPECT_EQ(text_of_duration(milliseconds(120'000)), "2min");
  EXPECT_EQ(text_of_duration(milliseconds(86'400'000)), "1d");
  EXPECT_EQ(text_of_size(0), "0");
  EXPECT_EQ(text_of_size(1'000), "1000B");
  EXPECT_EQ(text_of_size(1'048'576), "1MiB");
  EXPECT_EQ(rounded_size(1'023), "1023B");
  EXPECT_EQ(rounded_size(1'536), "1.5KiB");
  EXPECT_EQ(rounded_size(std::uint64_t{3} << 40), "3.0TiB");
}

RC_GTEST_PROP(Quantity, IsReadBackFromItsText, ()) {
  const auto number = *rc::gen::inRange<std::int64_t>(0, std::numeric_limits<std::int64_t>::max());
  RC_ASSERT(*duration_from(text_of_duration(milliseconds(number)), "x") == milliseconds(number));
  RC_ASSERT(*size_from(text_of_size(static_cast<std::uint64_t>(number)), "x") == static_cast<std::uint64_t>(number));
}

}  // namespace
}  // namespace evershard
