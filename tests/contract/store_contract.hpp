// StoreContract: what every storage::Store promises. Instantiated with each implementation.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "evershard/storage/open.hpp"
#include "tests/contract/store_writer.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::storage {

struct StoreKind {
  std::string name;
  bool durable = false;
};

class StoreContract : public ::testing::TestWithParam<StoreKind> {
 protected:
  [[nodiscard]] bool durable() const { return GetParam().durable; }

  /// Small tails and little memory: what fills up does so within a test.
  [[nodiscard]] StoreOptions options() const {
    StoreOptions options;
    if (durable()) options.data_dir = folder_.path() / "store";
    options.shards = 4;
    options.tail_events = 1'000;
    options.memtable_bytes = 1u << 20;
    options.block_cache_bytes = 8u << 20;
    options.disk_reserve_bytes = 0;
    return options;
  }
  void open(const StoreOptions& options) {
    store_.reset();
    auto opened = open_store(options);
    ASSERT_TRUE(opened) << opened.error().what;
    store_ = std::move(*opened);
    writer_ = std::make_unique<StoreWriter>(*store_);
  }
  void open() { open(options()); }

  Store& store() { return *store_; }
  StoreWriter& writer() { return *writer_; }

  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<StoreWriter> writer_;
};

}  // namespace evershard::storage
