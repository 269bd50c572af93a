#include "evershard/storage/index/index_entry.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "evershard/storage/journal/chunks.hpp"
#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {
namespace {

TEST(RowEntries, OfADamagedRowEndWhereTheStoreDoes) {
  const ShardId shard{7};
  std::string row;
  encode_runs(std::vector<sharding::Run>{{shard, GlobalPosition{5}, ShardOffset{1}, 3},
                                         {shard, GlobalPosition{20}, ShardOffset{4}, ~std::uint64_t{0} / 2}},
              row);
  const auto key = keys::run(shard, GlobalPosition{5});

  std::vector<std::uint64_t> positions;
  const auto given = RowEntries().give(Family::runs, key, row, GlobalPosition{22}, [&](const IndexEntry& entry) {
    positions.push_back(entry.position.value);
    if (positions.size() > 100) throw std::length_error("there is no end");
  });

  ASSERT_TRUE(given);
  EXPECT_EQ(positions, (std::vector<std::uint64_t>{5, 6, 7, 20, 21, 22}));
}

TEST(RowEntries, BehindTheEndAreLeftOut) {
  const ShardId shard{7};
  std::string row;
  encode_postings(std::vector<Posting>{{GlobalPosition{5}, {shard, ShardOffset{1}, 0}, 1},
                                       {GlobalPosition{9}, {shard, ShardOffset{2}, 0}, 1}},
                  row);

  std::vector<std::uint64_t> positions;
  const auto given = RowEntries().give(Family::postings, keys::posting(3, GlobalPosition{5}), row, GlobalPosition{8},
                                       [&](const IndexEntry& entry) { positions.push_back(entry.position.value); });

  ASSERT_TRUE(given);
  EXPECT_EQ(positions, std::vector<std::uint64_t>{5});
}

}  // namespace
}  // namespace evershard::storage
