// RocksFolder: a durable store opened, closed, reopened and damaged. For tests of what only a disk can do.

#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "evershard/storage/open.hpp"
#include "tests/contract/store_writer.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::storage {

class RocksFolder : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path data_dir() const { return folder_.path() / "store"; }
  [[nodiscard]] std::filesystem::path database() const { return data_dir() / "db"; }

  [[nodiscard]] StoreOptions options() const {
    StoreOptions options;
    options.data_dir = data_dir();
    options.shards = 4;
    options.tail_events = 1'000;
    options.memtable_bytes = 1u << 20;
    options.block_cache_bytes = 8u << 20;
    options.disk_reserve_bytes = 0;
    return options;
  }
  void open(const StoreOptions& options) {
    close();
    auto opened = open_store(options);
    ASSERT_TRUE(opened) << opened.error().what;
    store_ = std::move(*opened);
    writer_ = std::make_unique<StoreWriter>(*store_);
  }
  void open() { open(options()); }
  void close() {
    writer_.reset();
    store_.reset();
  }
  Store& store() { return *store_; }
  StoreWriter& writer() { return *writer_; }

  /// Events with payloads from, from + 1, ...: ten a commit.
  void write(int from, int count) {
    for (int i = from; i < from + count; i += 10) {
      std::vector<Append> appends;
      for (int k = i; k < std::min(i + 10, from + count); ++k)
        appends.push_back(one("order-" + std::to_string(k % 17), "type" + std::to_string(k % 3), std::to_string(k),
                              {"mod5:" + std::to_string(k % 5)}));
      ASSERT_TRUE(writer().commit(std::move(appends)));
    }
  }

  /// Everything written is there, in order, and every index finds it.
  static void expect_all_there(const Store& store, int count) {
    auto events = everything(store);
    ASSERT_EQ(events.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) ASSERT_EQ(events[static_cast<std::size_t>(i)].payload, std::to_string(i));
    for (int tag = 0; tag < 5; ++tag) {
      std::vector<std::string> expected;
      for (int i = tag; i < count; i += 5) expected.push_back(std::to_string(i));
      ASSERT_EQ(payloads_of(matching(store, Query().tags({"mod5:" + std::to_string(tag)}))), expected);
    }
    for (int order = 0; order < 17; ++order) {
      std::vector<std::string> expected;
      for (int i = order; i < count; i += 17) expected.push_back(std::to_string(i));
      ASSERT_EQ(payloads_of(stream_of(store, "order-" + std::to_string(order))), expected);
    }
    for (const auto& event : events) {
      auto found = Reader(store).find_id(store.view(), event.id, event.shard);
      ASSERT_TRUE(found && *found);
      ASSERT_EQ((*found)->position, event.position);
    }
  }

  [[nodiscard]] std::vector<std::filesystem::path> files_of(std::string_view extension) const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(database()))
      if (entry.path().extension() == extension && entry.file_size() > 0) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
  static void flip_byte(const std::filesystem::path& file, std::uint64_t at) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at));
    auto byte = static_cast<char>(bytes.get() ^ 0x40);
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(byte);
  }
  /// What `kill -9` at this moment would leave.
  void take_image(const std::filesystem::path& image) const {
    std::filesystem::copy(data_dir(), image, std::filesystem::copy_options::recursive);
  }

  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<StoreWriter> writer_;
};

}  // namespace evershard::storage
