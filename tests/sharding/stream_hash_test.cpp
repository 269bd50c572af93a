// The published vectors of docs/internals/sharding.md. If one of these fails, every store that exists would lose its
// streams: change the code back, never the numbers.

#include "evershard/sharding/stream_hash.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace evershard::sharding {
namespace {

struct Vector {
  std::string text;
  std::uint64_t hash;
  std::uint32_t of_16;
  std::uint32_t of_65535;
};

TEST(StreamHash, KeepsThePublishedVectors) {
  const std::vector<Vector> vectors{
      {"", 0xef46db3751d8e999ull, 9, 1521},
      {"a-1", 0xef43d4a6e34094b3ull, 3, 15327},
      {"order-1", 0x3baf4120aa43a0adull, 13, 51136},
      {"order-2", 0x8f8f6c2e829b9f6dull, 13, 7623},
      {"Order-1", 0x8900e6ef5a4edeabull, 11, 43242},
      {"account-42", 0x29db3f4a985540a3ull, 3, 16926},
      {"order-2024-000017", 0x024cdf8f95a15369ull, 9, 51942},
      {"package-libc6:amd64", 0xdc9d29fa4a389177ull, 7, 57927},
      {"invoice- ", 0x132a7737d0db3fe9ull, 9, 39718},
      {"kunde-Müller", 0xa04884089314695aull, 10, 8384},
      {"注文-東京-7", 0x7130c299011627cdull, 13, 23725},
      {"emoji-🦀", 0x27fedfcdfc8e5681ull, 1, 23260},
      {"user-3f2b8c1e-7d7e-4b2a-9a51-0c1d", 0x547d9c5b6d88100bull, 11, 28268},
      {"user-3f2b8c1e-7d7e-4b2a-9a51-0c1d2", 0x6d6665f5f9d317cdull, 13, 58620},
      {"a-" + std::string(29, 'x'), 0x98f8d78d81e10cf6ull, 6, 65373},
      {"a-" + std::string(30, 'x'), 0xeab1865697f9829full, 15, 35745},
      {"a-" + std::string(31, 'x'), 0x45fcdaa723643947ull, 7, 32079},
      {std::string(128, 't') + '-' + std::string(512, 'v'), 0x7761faaeb6cadda0ull, 0, 1660},
  };

  for (const Vector& v : vectors) {
    SCOPED_TRACE(v.text);
    EXPECT_EQ(stream_hash(v.text), v.hash);
    EXPECT_EQ(shard_of(v.hash, 16), ShardId(static_cast<std::uint16_t>(v.of_16)));
    EXPECT_EQ(shard_of(v.hash, 1), ShardId{0});
    EXPECT_EQ(shard_of(v.hash, 65'535), ShardId(static_cast<std::uint16_t>(v.of_65535)));
  }
}

TEST(StreamHash, KeepsThePublishedVectorsOfEventIds) {
  const std::vector<Vector> vectors{
      {"00000000-0000-4000-8000-000000000001", 0x1ea4843e63f9a5fdull, 13, 44249},
      {"00000000-0000-4000-8000-000000000002", 0x7de262eecaf569b3ull, 3, 5498},
      {"0190a6b1-5c3e-7000-8000-00000000abcd", 0x55a25b8e8778230eull, 14, 23479},
      {"ffffffff-ffff-ffff-ffff-ffffffffffff", 0xa721445d6a57c444ull, 4, 6683},
  };

  for (const Vector& v : vectors) {
    SCOPED_TRACE(v.text);
    const auto id = EventId::parse(v.text);
    ASSERT_TRUE(id);
    EXPECT_EQ(event_hash(*id), v.hash);
    EXPECT_EQ(shard_of(v.hash, 16), ShardId(static_cast<std::uint16_t>(v.of_16)));
    EXPECT_EQ(shard_of(v.hash, 65'535), ShardId(static_cast<std::uint16_t>(v.of_65535)));
  }
}

TEST(StreamHash, OfPartsIsThatOfTheText) {
  const std::vector<AggregateId> ids{{"order", "1"},
                                     {"order", "a-b"},
                                     {std::string(128, 't'), std::string(512, 'v')},
                                     {std::string(128, 't'), std::string(5'000, 'v')}};

  for (const AggregateId& id : ids) EXPECT_EQ(stream_hash(id), stream_hash(id.type + "-" + id.value));
}

}  // namespace
}  // namespace evershard::sharding
