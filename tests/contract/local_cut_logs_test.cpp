// The contract, kept by the cut logs of one machine.

#include "evershard/sharding/memory_cut_log.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"
#include "tests/contract/cut_log_contract.hpp"
#include "tests/sharding/cuts.hpp"

namespace evershard::storage {
namespace {

std::unique_ptr<sharding::CutLog> memory_again(const std::filesystem::path&, std::uint32_t shards,
                                               std::unique_ptr<sharding::CutLog> before) {
  auto memory = std::make_unique<sharding::MemoryCutLog>(before ? static_cast<sharding::MemoryCutLog&>(*before).disk()
                                                                : sharding::MemoryCutLog::Disk(shards));
  memory->crash();
  return memory;
}

std::unique_ptr<sharding::CutLog> rocks_again(const std::filesystem::path& folder, std::uint32_t shards,
                                              std::unique_ptr<sharding::CutLog> before) {
  before.reset();
  auto opened = open_cut_log({folder / "cuts", shards});
  EXPECT_TRUE(opened) << opened.error().what;
  return opened ? *std::move(opened) : nullptr;
}

INSTANTIATE_TEST_SUITE_P(Memory, CutLogContract, testing::Values(CutLogKind{"memory", 59, memory_again}));
INSTANTIATE_TEST_SUITE_P(Rocks, CutLogContract, testing::Values(CutLogKind{"rocks", 5, rocks_again}));

TEST(MemoryCutLog, LosesWhatWasNotSynced) {
  sharding::MemoryCutLog log(2);
  put_five(log);
  const auto before = log.state();

  log.crash();
  EXPECT_EQ(log.state(), before);
  log.stop_syncing();
  ASSERT_TRUE(log.put(sharding::next_cut(log.state(), {sharding::segment_of(0, 1, 5, 6)})));
  log.crash();

  EXPECT_EQ(log.state(), before);
}

}  // namespace
}  // namespace evershard::storage
