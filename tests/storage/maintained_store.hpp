// MaintainedStore: a small store on disk that tests fill, close, damage behind its back and look at again.

#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/repair/verify.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"
#include "tests/contract/store_writer.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::storage {

class MaintainedStore : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path data_dir() const { return folder_.path() / "store"; }
  [[nodiscard]] StoreOptions options() const { return options_for(data_dir()); }
  [[nodiscard]] static StoreOptions options_for(const std::filesystem::path& data_dir) {
    StoreOptions options;
    options.data_dir = data_dir;
    options.shards = 4;
    options.tail_events = 100;
    options.memtable_bytes = 1u << 20;
    options.block_cache_bytes = 8u << 20;
    options.disk_reserve_bytes = 0;
    return options;
  }

  void open() {
    auto opened = open_store(options());
    ASSERT_TRUE(opened) << opened.error().what;
    store_ = std::move(*opened);
    writer_ = std::make_unique<StoreWriter>(*store_);
  }
  void close() {
    writer_.reset();
    store_.reset();
  }
  Store& store() {
    if (!store_) throw std::logic_error("the store is not open");
    return *store_;
  }

  /// Commits of one event each: with a tag, of one of seven aggregates, with a payload that does not compress.
  void fill(int events, std::size_t payload_bytes = 40) {
    for (int i = 0; i < events; ++i, ++filled_) {
      std::string payload = std::to_string(filled_) + ":";
      while (payload.size() < payload_bytes)
        payload += static_cast<char>('!' + (random_ = random_ * 6364136223846793005u + 1442695040888963407u) % 90);
      ASSERT_TRUE(writer_->commit({one("order-" + std::to_string(filled_ % 7), "placed", std::move(payload),
                                       {"t:" + std::to_string(filled_ % 3)})}));
    }
  }
  static PlacedSnapshot snapshot_of(const std::string& aggregate, std::uint64_t version, std::uint64_t position) {
    Snapshot snapshot;
    snapshot.aggregate = AggregateId::parse(aggregate).value();
    snapshot.version = SeqNr{version};
    snapshot.payload = "state";
    return {snapshot, GlobalPosition{position}};
  }
  void write(std::vector<PlacedSnapshot> snapshots) {
    auto batch = writer_->prepare({});
    batch->commit.snapshots = std::move(snapshots);
    auto staged = store().stage(batch->commit);
    ASSERT_TRUE(store().commit(*staged));
  }
  /// A closed store whose first `sealed` events are in the indexes' files, and in the journal's.
  void make(int sealed, int behind = 0, std::size_t payload_bytes = 40) {
    open();
    fill(sealed, payload_bytes);
    ASSERT_TRUE(store().seal());
    fill(behind, payload_bytes);
    close();
  }

  /// With the store closed: the database itself, nothing merged behind the test's back.
  void raw(const std::function<void(RocksFamilies&)>& change) {
    std::unique_ptr<RocksFamilies> families;
    auto status =
        RocksFamilies::open(RocksOptions(options()).for_repair(), (data_dir() / "db").string(), false, families);
    ASSERT_TRUE(status.ok()) << status.ToString();
    change(*families);
  }
  static std::vector<std::pair<std::string, std::string>> rows_of(RocksFamilies& families, Family family) {
    std::vector<std::pair<std::string, std::string>> rows;
    rocksdb::ReadOptions all;
    all.total_order_seek = true;
    std::unique_ptr<rocksdb::Iterator> at(families.db().NewIterator(all, families.handle(family)));
    for (at->SeekToFirst(); at->Valid(); at->Next()) rows.emplace_back(at->key().ToString(), at->value().ToString());
    return rows;
  }
  static void put(RocksFamilies& families, Family family, const std::string& key, const std::string& value) {
    ASSERT_TRUE(families.db().Put({}, families.handle(family), key, value).ok());
  }
  static void erase(RocksFamilies& families, Family family, const std::string& key) {
    ASSERT_TRUE(families.db().Delete({}, families.handle(family), key).ok());
  }
  /// Of a family; memtables are flushed before.
  std::vector<std::filesystem::path> files_of(Family family) {
    std::vector<std::filesystem::path> paths;
    raw([&](RocksFamilies& families) {
      std::vector<rocksdb::ColumnFamilyHandle*> truth{families.handle(Family::journal), families.handle(Family::order),
                                                      families.handle(Family::state)};
      ASSERT_TRUE(families.db().Flush({}, truth).ok());
      std::vector<rocksdb::LiveFileMetaData> files;
      families.db().GetLiveFilesMetaData(&files);
      for (const auto& file : files)
        if (file.column_family_name == name_of(family))
          paths.push_back(data_dir() / "db" / std::filesystem::path(file.name).filename());
    });
    return paths;
  }
  std::filesystem::path newest_log() {
    std::filesystem::path newest;
    for (const auto& entry : std::filesystem::directory_iterator(data_dir() / "db"))
      if (entry.path().extension() == ".log" && entry.file_size() > 0) newest = std::max(newest, entry.path());
    return newest;
  }
  static void flip(const std::filesystem::path& path, std::uint64_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    char byte = static_cast<char>(file.get() ^ 0x55);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
    ASSERT_TRUE(file.flush());
  }

  VerifyReport verified() {
    auto report = verify(store());
    EXPECT_TRUE(report) << report.error().what;
    return report.value_or(VerifyReport{});
  }

  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<StoreWriter> writer_;
  int filled_ = 0;
  std::uint64_t random_ = 1;
};

}  // namespace evershard::storage
