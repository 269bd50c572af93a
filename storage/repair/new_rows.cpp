#include "evershard/storage/repair/new_rows.hpp"

#include <utility>
#include <vector>

#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t new_rows_batch_bytes = 4u << 20;

}  // namespace

Result<std::unique_ptr<RocksFamilies>> create_database(const StoreOptions& options, bool compact,
                                                       const std::filesystem::path& folder) {
  auto creating = options;
  creating.create = true;
  creating.read_only = false;
  std::unique_ptr<RocksFamilies> families;
  const auto rocks = compact ? RocksOptions(creating).compact() : RocksOptions(creating);
  EVERSHARD_TRY(checked(RocksFamilies::open(rocks, folder.string(), /*read_only=*/false, families),
                        "cannot create " + folder.string()));
  return families;
}

void NewRows::put(Family family, std::string_view key, std::string_view value) {
  take(batch_.Put(families_.handle(family), rocksdb::Slice(key.data(), key.size()),
                  rocksdb::Slice(value.data(), value.size())));
  if (batch_.GetDataSize() >= new_rows_batch_bytes) write();
}

void NewRows::erase(Family family, std::string_view key) {
  take(batch_.Delete(families_.handle(family), rocksdb::Slice(key.data(), key.size())));
}

Result<void> NewRows::written() const { return checked(status_, "cannot write the new database"); }

Result<void> NewRows::finish() {
  write();
  rocksdb::FlushOptions options;
  std::vector<rocksdb::ColumnFamilyHandle*> handles{families_.handle(Family::journal), families_.handle(Family::order),
                                                    families_.handle(Family::state)};
  if (status_.ok()) take(families_.db().Flush(options, handles));
  return written();
}

void NewRows::write() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  if (status_.ok()) take(families_.db().Write(options, &batch_));
  batch_.Clear();
}

void NewRows::take(rocksdb::Status status) {
  if (status_.ok() && !status.ok()) status_ = std::move(status);
}

}  // namespace evershard::storage
