// RocksMaintenance: files, copies and compaction of a store on RocksDB.

#pragma once

#include <memory>

#include "evershard/storage/repair/store_maintenance.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"

namespace evershard::storage {

class RocksMaintenance final : public StoreMaintenance {
 public:
  RocksMaintenance(std::shared_ptr<const RocksFamilies> families, const RocksOptions& options)
      : families_(std::move(families)), options_(options) {}
  [[nodiscard]] std::filesystem::path folder() const override;
  Result<void> check_files(const std::function<void(const DamagedFile&)>& damaged, const Progress& progress) override;
  Result<void> link_database(const std::filesystem::path& folder) override;
  [[nodiscard]] std::unique_ptr<const Rows> frozen_rows() const override;
  [[nodiscard]] std::vector<Stretch> stretches(std::uint64_t bytes) const override;
  Result<void> flush_log() override;
  Result<void> rewrite(const Stretch& stretch) override;

 private:
  const std::shared_ptr<const RocksFamilies> families_;
  const RocksOptions options_;
};

}  // namespace evershard::storage
