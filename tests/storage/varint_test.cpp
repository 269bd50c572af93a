#include "evershard/storage/journal/varint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace evershard::storage {
namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  append_varint(bytes, value);
  return bytes;
}

RC_GTEST_PROP(Varint, ComesBackWithItsSize, (std::uint64_t any, std::uint8_t shift)) {
  const std::uint64_t value = any >> (shift % 64);

  const std::string bytes = varint(value);

  ByteReader reader(bytes);
  RC_ASSERT(reader.varint() == value);
  RC_ASSERT(reader.done());
  RC_ASSERT(bytes.size() == varint_size(value));
}

TEST(Varint, HoldsTheExtremes) {
  EXPECT_EQ(varint(0), std::string(1, '\0'));
  EXPECT_EQ(varint(0x7F), "\x7F");
  EXPECT_EQ(varint(0x80), "\x80\x01");
  EXPECT_EQ(varint(std::numeric_limits<std::uint64_t>::max()), "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");
}

TEST(Varint, IsRefusedWhereItEndsTooEarlyIsTooLargeOrHasAShorterForm) {
  for (const std::string_view bytes :
       {std::string_view("\x80"), std::string_view("\xFF\xFF"), std::string_view("\x80\x00", 2),
        std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"),
        std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01")}) {
    ByteReader reader(bytes);

    EXPECT_EQ(reader.varint(), 0u);

    EXPECT_FALSE(reader.ok()) << bytes.size();
  }
}

RC_GTEST_PROP(Zigzag, ComesBackAndIsSmallInBothDirections, (std::uint64_t any, std::uint8_t small)) {
  RC_ASSERT(unzigzag(zigzag(any)) == any);

  RC_ASSERT(zigzag(small) == 2u * small);
  RC_ASSERT(zigzag(std::uint64_t{0} - small) == (small == 0 ? 0u : 2u * small - 1));
}

TEST(ByteReader, GivesNothingAfterTheFirstThingThatIsNotThere) {
  ByteReader reader("abc");

  EXPECT_EQ(reader.bytes(2), "ab");
  EXPECT_EQ(reader.fixed<std::uint32_t>(), 0u);

  EXPECT_EQ(reader.fixed<std::uint8_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_FALSE(reader.done());
  EXPECT_EQ(reader.left(), 0u);
}

TEST(ByteReader, RefusesANumberAboveItsBound) {
  const std::string bytes = varint(256);

  EXPECT_EQ(ByteReader(bytes).varint(256), 256u);

  ByteReader reader(bytes);
  EXPECT_EQ(reader.varint(255), 0u);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace evershard::storage
