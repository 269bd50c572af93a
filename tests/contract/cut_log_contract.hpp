// CutLogContract: what every cut log promises. Instantiated with each implementation.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "evershard/sharding/memory_cut_log.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::storage {

class CutLogContract : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr std::uint32_t shards = 3;
  static constexpr std::size_t all_bytes = 1u << 20;

  [[nodiscard]] bool durable() const { return GetParam(); }
  void SetUp() override { reopen(); }
  /// As after kill -9: what was answered is there.
  void reopen() {
    if (!durable()) {
      auto memory = std::make_unique<sharding::MemoryCutLog>(log_ ? static_cast<sharding::MemoryCutLog&>(*log_).disk()
                                                                  : sharding::MemoryCutLog::Disk(shards));
      memory->crash();
      log_ = std::move(memory);
      return;
    }
    log_.reset();
    auto opened = open_cut_log({folder_.path() / "cuts", shards});
    ASSERT_TRUE(opened) << opened.error().what;
    log_ = std::move(*opened);
  }
  sharding::CutLog& log() { return *log_; }

  TemporaryFolder folder_;
  std::unique_ptr<sharding::CutLog> log_;
};

}  // namespace evershard::storage
