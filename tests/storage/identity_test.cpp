#include "evershard/storage/journal/identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "tests/storage/random_values.hpp"

namespace evershard::storage {
namespace {

using testing::HasSubstr;

Identity identity(std::uint64_t seed = 1) {
  RandomValues random(seed);
  Identity identity;
  identity.store = random.id();
  identity.fork = random.id();
  identity.shards = 1 + static_cast<std::uint32_t>(random.below(65'535));
  identity.hash = static_cast<std::uint32_t>(random.number());
  identity.term_key = random.number();
  identity.created_at = random.time();
  return identity;
}

TEST(Identity, ComesBackAsItWas) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    EXPECT_EQ(decode_identity(encode(identity(seed))), identity(seed));
  }
}

TEST(Identity, OfANewerFormatIsRefusedByName) {
  Identity newer = identity();
  newer.format = 3;

  const auto decoded = decode_identity(encode(newer));

  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(decoded.error().what, HasSubstr("the store has format 3, this program knows formats up to 2"));
}

TEST(Identity, OfANodeHasAFormatOfItsOwn) {
  Identity node = identity();
  node.format = 2;
  node.node = 3;
  Identity contradiction = identity();
  contradiction.format = 2;

  EXPECT_EQ(decode_identity(encode(node)), node);
  EXPECT_EQ(decode_identity(encode(contradiction)).error().code, ErrorCode::corruption);
}

TEST(Identity, OfANewerFormatIsRefusedByNameWhateverElseItHolds) {
  std::string newer;
  append_fixed(newer, std::uint32_t{7});
  newer += "fields nobody knows yet";
  append_fixed(newer, checksum(newer));

  const auto decoded = decode_identity(newer);

  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::invalid_argument);
}

TEST(Identity, WithAnyBitFlippedIsDamagedAndNoNewerFormat) {
  const std::string whole = encode(identity());

  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const auto decoded = decode_identity(flipped);
    ASSERT_FALSE(decoded) << bit;
    EXPECT_EQ(decoded.error().code, ErrorCode::corruption) << bit;
  }
}

TEST(Identity, CutShortIsDamaged) {
  const std::string whole = encode(identity());

  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto decoded = decode_identity(std::string_view(whole).substr(0, size));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::corruption);
  }
}

TEST(Identity, WithoutFormatOrShardsIsDamaged) {
  Identity no_format = identity(), no_shards = identity(), too_many_shards = identity();
  no_format.format = 0;
  no_shards.shards = 0;
  too_many_shards.shards = 65'536;

  for (const Identity& wrong : {no_format, no_shards, too_many_shards}) {
    const auto decoded = decode_identity(encode(wrong));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::corruption);
  }
}

}  // namespace
}  // namespace evershard::storage
