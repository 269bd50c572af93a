// What is unpacked is what was packed, and never more than one is willing to hold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "evershard/doors/serving/gzip.hpp"

namespace evershard::serving {
namespace {

Result<std::string> unpacked(std::string_view packed, std::size_t bytes_max = 1u << 20) {
  const auto bytes = unpacked_bytes(packed, bytes_max);
  if (!bytes) return refuse(bytes.error());
  std::string text(*bytes, '?');
  EVERSHARD_TRY(unpack(packed, text));
  return text;
}

ErrorCode code_of(const Result<std::string>& result) { return result ? ErrorCode{} : result.error().code; }

TEST(Gzip, GivesBackWhatWasPacked) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::string text(random() % 20'000, '\0');
    const unsigned letters = 1 + random() % 256;
    for (auto& byte : text) byte = static_cast<char>(random() % letters);
    const auto packed = gzip(text);
    EXPECT_TRUE(is_gzip(packed));
    const auto again = unpacked(packed);
    ASSERT_TRUE(again) << again.error().what;
    ASSERT_EQ(*again, text);
  }
}

TEST(Gzip, NothingIsPackedAndUnpackedToo) {
  const auto again = unpacked(gzip(""), 0);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(*again, "");
}

TEST(Gzip, RefusesWhatIsTooLargeBeforeItUnpacksIt) {
  const auto packed = gzip(std::string(2'000'000, 'x'));
  EXPECT_LT(packed.size(), 20'000u);
  EXPECT_EQ(code_of(unpacked(packed, 1'999'999)), ErrorCode::too_large);
  EXPECT_TRUE(unpacked(packed, 2'000'000));
}

// A bomb that says it is small: nothing is written behind the memory that was taken by its word.
TEST(Gzip, IsNotFooledByAWrongLength) {
  const std::string text(100'000, 'x');
  for (const std::uint32_t said : {0u, 1u, 99'999u, 100'001u, 0x7fffffffu, 0xffffffffu}) {
    auto packed = gzip(text);
    for (std::size_t i = 0; i < 4; ++i) packed[packed.size() - 4 + i] = static_cast<char>(said >> (8 * i));
    EXPECT_EQ(code_of(unpacked(packed)), ErrorCode::invalid_argument) << said;
  }
}

TEST(Gzip, RefusesWhatIsDamagedCutOrLonger) {
  const auto packed = gzip("some text, some text, some other text");
  for (std::size_t cut = 0; cut < packed.size(); ++cut) EXPECT_FALSE(unpacked(packed.substr(0, cut))) << cut;
  EXPECT_FALSE(unpacked(packed + "x"));
  EXPECT_FALSE(unpacked(packed + packed)) << "one member";
  std::mt19937 random(9);
  for (std::size_t at = 0; at < packed.size(); ++at) {
    auto bad = packed;
    bad[at] = static_cast<char>(bad[at] ^ static_cast<char>(1 + random() % 255));
    const auto read = unpacked(bad);
    EXPECT_TRUE(!read || *read == "some text, some text, some other text") << at;
  }
}

}  // namespace
}  // namespace evershard::serving
