#include "evershard/storage/rocks/rocks_families.hpp"

#include <algorithm>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

constexpr const char* mark_family = "mark";

}  // namespace

rocksdb::Status RocksFamilies::open(const RocksOptions& options, const std::string& folder, bool read_only,
                                    std::unique_ptr<RocksFamilies>& out) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.emplace_back(rocksdb::kDefaultColumnFamilyName, options.small());
  for (std::size_t i = 0; i < family_count; ++i) {
    auto family = static_cast<Family>(i);
    descriptors.emplace_back(std::string(name_of(family)), options.family(family));
  }
  descriptors.emplace_back(mark_family, options.small());

  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  auto of_database = options.db();
  if (read_only) of_database.info_log = no_log();
  auto status = read_only ? rocksdb::DB::OpenForReadOnly(of_database, folder, descriptors, &handles, &db)
                          : rocksdb::DB::Open(of_database, folder, descriptors, &handles, &db);
  if (!status.ok()) return status;
  out.reset(new RocksFamilies(options.env()));
  out->db_ = db;
  out->default_ = handles.front();
  std::copy(handles.begin() + 1, handles.end(), out->handles_.begin());
  return status;
}

Result<Identity> RocksFamilies::stored_identity(const RocksOptions& options, const std::string& folder) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.emplace_back(rocksdb::kDefaultColumnFamilyName, options.small());
  descriptors.emplace_back(std::string(name_of(Family::state)), options.family(Family::state));
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  auto of_database = options.db();
  of_database.info_log = no_log();
  EVERSHARD_TRY(checked(rocksdb::DB::OpenForReadOnly(of_database, folder, descriptors, &handles, &db),
                        "cannot look into " + folder));
  std::string value;
  auto status = db->Get(rocksdb::ReadOptions(), handles[1], keys::identity(), &value);
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
  delete db;
  EVERSHARD_TRY(checked(status, "cannot read the store's identity"));
  return decode_identity(value);
}

RocksFamilies::~RocksFamilies() {
  for (auto* handle : handles_)
    if (handle) db_->DestroyColumnFamilyHandle(handle);
  if (default_) db_->DestroyColumnFamilyHandle(default_);
  delete db_;
}

// What can fail is writing RocksDB's file of options, which nobody reads: the setting itself holds.
void RocksFamilies::begin_merging() {
  std::vector<rocksdb::ColumnFamilyHandle*> all(handles_.begin(), handles_.end());
  all.push_back(default_);
  // What is not merged now is merged when more is written.
  static_cast<void>(db_->EnableAutoCompaction(all));
}

Result<GlobalPosition> RocksFamilies::stored_mark() const {
  std::string value;
  auto status = db_->Get(rocksdb::ReadOptions(), mark(), mark_key, &value);
  if (status.IsNotFound()) return GlobalPosition{0};
  EVERSHARD_TRY(checked(status, "cannot read the mark of the indexes"));
  if (value.size() != 8)
    return refuse(ErrorCode::corruption,
                  "the mark of the indexes has " + std::to_string(value.size()) + " bytes, not 8");
  std::uint64_t position = 0;
  for (unsigned char byte : value) position = position << 8 | byte;
  return GlobalPosition{position};
}

std::string encode_mark(GlobalPosition mark) {
  std::string value;
  for (int shift = 56; shift >= 0; shift -= 8) value.push_back(static_cast<char>(mark.value >> shift));
  return value;
}

Result<bool> RocksFamilies::indexes_empty() const {
  for (std::size_t i = 0; i < family_count; ++i) {
    if (!is_index(static_cast<Family>(i))) continue;
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(options, handles_[i]));
    rows->SeekToFirst();
    EVERSHARD_TRY(checked(rows->status(), "cannot read the indexes"));
    if (rows->Valid()) return false;
  }
  return true;
}

Result<void> RocksFamilies::renew(std::size_t i, const std::string& name, const rocksdb::ColumnFamilyOptions& options) {
  EVERSHARD_TRY(checked(db_->DropColumnFamily(handles_[i]), "cannot drop family " + name));
  db_->DestroyColumnFamilyHandle(handles_[i]);
  handles_[i] = nullptr;
  return checked(db_->CreateColumnFamily(options, name, &handles_[i]), "cannot create family " + name);
}

Result<void> RocksFamilies::clear_mark(const RocksOptions& options) {
  return renew(family_count, mark_family, options.small());
}

Result<void> RocksFamilies::clear_indexes(const RocksOptions& options) {
  for (std::size_t i = 0; i < family_count; ++i) {
    auto family = static_cast<Family>(i);
    if (is_index(family)) EVERSHARD_TRY(renew(i, std::string(name_of(family)), options.family(family)));
  }
  return {};
}

}  // namespace evershard::storage
