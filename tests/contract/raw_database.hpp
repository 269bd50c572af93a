// RawDatabase: a closed store's RocksDB opened without the store, to damage it where no checksum would notice.

#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <rocksdb/db.h>

namespace evershard::storage {

class RawDatabase {
 public:
  explicit RawDatabase(const std::filesystem::path& database) {
    check(rocksdb::DB::ListColumnFamilies({}, database.string(), &names_));
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const auto& name : names_) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    check(rocksdb::DB::Open({}, database.string(), families, &handles_, &db_));
  }
  ~RawDatabase() {
    for (auto* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
    delete db_;
  }
  RawDatabase(const RawDatabase&) = delete;

  [[nodiscard]] std::vector<std::string> keys(const std::string& family) const {
    std::vector<std::string> keys;
    std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator({}, handle(family)));
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) keys.push_back(rows->key().ToString());
    return keys;
  }
  [[nodiscard]] std::string get(const std::string& family, const std::string& key) const {
    std::string value;
    check(db_->Get({}, handle(family), key, &value));
    return value;
  }
  void put(const std::string& family, const std::string& key, const std::string& value) {
    check(db_->Put({}, handle(family), key, value));
  }
  void erase(const std::string& family, const std::string& key) { check(db_->Delete({}, handle(family), key)); }
  void add_family(const std::string& name) {
    rocksdb::ColumnFamilyHandle* made = nullptr;
    check(db_->CreateColumnFamily({}, name, &made));
    names_.push_back(name);
    handles_.push_back(made);
  }

 private:
  static void check(const rocksdb::Status& status) {
    if (!status.ok()) throw std::runtime_error(status.ToString());
  }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* handle(const std::string& family) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == family) return handles_[i];
    throw std::runtime_error("no family " + family);
  }

  std::vector<std::string> names_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  rocksdb::DB* db_ = nullptr;
};

}  // namespace evershard::storage
