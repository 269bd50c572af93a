// How much memory there is for blocks, and who shares it.

#include "evershard/storage/rocks/block_cache.hpp"

#include <gtest/gtest.h>
#include <rocksdb/cache.h>

#include <map>

#include "evershard/storage/open.hpp"
#include "evershard/storage/rocks/machine_memory.hpp"
#include "tests/storage/maintained_store.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t gib = 1u << 30;

std::optional<std::uint64_t> limit(const std::string& groups, const std::map<std::string, std::string>& files) {
  return memory_limit(groups, [&](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return std::nullopt;
    return found->second;
  });
}

TEST(MachineMemory, IsWhatTheGroupMayUse) {
  EXPECT_EQ(limit("0::/\n", {{"/sys/fs/cgroup/memory.max", "2147483648\n"}}), 2 * gib);
  EXPECT_EQ(limit("0::/\n", {{"/sys/fs/cgroup/memory.max", "max\n"}}), std::nullopt);
  EXPECT_EQ(limit("0::/\n", {}), std::nullopt);
  EXPECT_EQ(limit("", {}), std::nullopt);
  EXPECT_EQ(limit("no group", {}), std::nullopt);
}

TEST(MachineMemory, IsTheLowestOfTheGroupsAround) {
  const std::string group = "/sys/fs/cgroup/system.slice/evershard.service";
  EXPECT_EQ(limit("0::/system.slice/evershard.service\n",
                  {{group + "/memory.max", "max\n"}, {"/sys/fs/cgroup/system.slice/memory.max", "4294967296\n"}}),
            4 * gib);
  EXPECT_EQ(limit("0::/system.slice/evershard.service\n",
                  {{group + "/memory.max", "8589934592\n"}, {group + "/memory.high", "1073741824\n"}}),
            gib);
}

TEST(MachineMemory, KnowsTheFirstVersionOfGroups) {
  EXPECT_EQ(limit("11:cpu,cpuacct:/docker/x\n5:memory:/docker/x\n0::/\n",
                  {{"/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "3221225472\n"},
                   {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}}),
            3 * gib);
}

TEST(MachineMemory, OfThisMachineIsThere) {
  EXPECT_GT(machine_memory(), 64u << 20);
  EXPECT_GE(shared_cache_bytes(), block_cache_least);
  EXPECT_LE(shared_cache_bytes(), std::max<std::uint64_t>(block_cache_least, machine_memory() / 4));
}

TEST(BlockCache, IsSharedByWhoLeavesItsSizeOpen) {
  const auto first = block_cache(0), second = block_cache(0), own = block_cache(1u << 20);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, own);
  EXPECT_EQ(first->GetCapacity(), shared_cache_bytes());
  EXPECT_EQ(own->GetCapacity(), 1u << 20);
}

TEST(BlockCache, IsGoneWithTheLastStore) {
  std::weak_ptr<rocksdb::Cache> gone;
  {
    const auto cache = block_cache(0);
    gone = cache;
    EXPECT_EQ(block_cache(0), cache);
  }
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(block_cache(0)->GetUsage(), 0u);
}

class SharedCache : public MaintainedStore {};

TEST_F(SharedCache, HoldsTheBlocksOfTwoStores) {
  const auto detail = [](const Store& store, std::string_view name) {
    for (const auto& [found, value] : store.stats().details)
      if (found == name) return value;
    throw std::logic_error("no such detail");
  };
  const auto opened = [&](const std::string& name) {
    auto options = options_for(folder_.path() / name);
    options.block_cache_bytes = 0;
    auto store = open_store(options);
    if (!store) throw std::logic_error(store.error().what);
    StoreWriter writer(**store);
    for (int i = 0; i != 20; ++i) {
      if (!writer.commit({one("order-1", "placed", std::string(9'000, 'x'), {"t"})})) throw std::logic_error("commit");
    }
    if (!(*store)->seal()) throw std::logic_error("seal");
    EXPECT_EQ(matching(**store, Query().tags({"t"})).size(), 20u);
    return std::move(*store);
  };
  const auto first = opened("first");
  const auto alone = detail(*first, "memory.block_cache");

  const auto second = opened("second");

  EXPECT_EQ(detail(*first, "memory.promised.block_cache"), shared_cache_bytes());
  EXPECT_EQ(detail(*second, "memory.promised.block_cache"), shared_cache_bytes());
  EXPECT_EQ(detail(*first, "memory.block_cache"), detail(*second, "memory.block_cache"));
  EXPECT_GT(detail(*second, "memory.block_cache"), alone);
}

}  // namespace
}  // namespace evershard::storage
