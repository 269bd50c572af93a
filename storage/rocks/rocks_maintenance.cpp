#include "evershard/storage/rocks/rocks_maintenance.hpp"

#include <algorithm>
#include <memory>

#include <rocksdb/metadata.h>
#include <rocksdb/utilities/checkpoint.h>

#include "evershard/storage/rocks/disk_space.hpp"
#include "evershard/storage/rocks/merge_pace.hpp"
#include "evershard/storage/rocks/rocks_rows.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"
#include "evershard/storage/rocks/table_files.hpp"

namespace evershard::storage {

std::filesystem::path RocksMaintenance::folder() const {
  return std::filesystem::path(families_->db().GetName()).parent_path();
}

Result<void> RocksMaintenance::check_files(const std::function<void(const DamagedFile&)>& damaged,
                                           const Progress& progress) {
  return check_table_files(families_->db(), options_, damaged, progress);
}

Result<void> RocksMaintenance::link_database(const std::filesystem::path& folder) {
  rocksdb::Checkpoint* made = nullptr;
  auto status = rocksdb::Checkpoint::Create(&families_->db(), &made);
  std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  // 0: flushes first, all families together, so that the copy ends at one commit and needs no log.
  if (status.ok()) status = checkpoint->CreateCheckpoint(folder.string(), /*log_size_for_flush=*/0);
  return checked(status, "cannot copy the database to " + folder.string());
}

std::unique_ptr<const Rows> RocksMaintenance::frozen_rows() const { return RocksRows::frozen(families_); }

Result<void> RocksMaintenance::flush_log() {
  // All families that go through the log, together: else it is kept for one of them.
  const std::vector<rocksdb::ColumnFamilyHandle*> handles{
      families_->handle(Family::journal), families_->handle(Family::order), families_->handle(Family::state)};
  return checked(families_->db().Flush(rocksdb::FlushOptions(), handles), "cannot write the log's rows into files");
}

std::vector<StoreMaintenance::Stretch> RocksMaintenance::stretches(std::uint64_t bytes) const {
  std::vector<Stretch> found;
  for (std::size_t i = 0; i < family_count; ++i) {
    rocksdb::ColumnFamilyMetaData family;
    families_->db().GetColumnFamilyMetaData(families_->handle(static_cast<Family>(i)), &family);
    // Files by their first key; of some levels they overlap, so the sizes are only about right.
    std::vector<std::pair<std::string, std::uint64_t>> files;
    for (const auto& level : family.levels)
      for (const auto& file : level.files) files.emplace_back(file.smallestkey, file.size);
    if (files.empty()) continue;
    std::ranges::sort(files);
    Stretch stretch{family.name, {}, {}, 0};
    for (const auto& [first, size] : files) {
      if (stretch.bytes >= bytes && first > stretch.from) {
        stretch.until = first;
        found.push_back(stretch);
        stretch = {family.name, first, {}, 0};
      }
      stretch.bytes += size;
    }
    found.push_back(std::move(stretch));
  }
  return found;
}

Result<void> RocksMaintenance::rewrite(const Stretch& stretch) {
  for (std::size_t i = 0; i < family_count; ++i) {
    auto family = static_cast<Family>(i);
    if (stretch.family != name_of(family)) continue;
    // It is written anew before the old files go.
    if (const DiskSpace disk(folder(), stretch.bytes); disk.below_reserve())
      return refuse(ErrorCode::unavailable,
                    "the disk of " + folder().string() + " has " + std::to_string(disk.free_bytes()) +
                        " bytes left: what is written anew takes " + std::to_string(stretch.bytes) + " for a while");
    auto* const pace = dynamic_cast<MergePace*>(options_.db().rate_limiter.get());
    const auto asked = pace != nullptr ? std::make_unique<MergePace::Asked>(*pace) : nullptr;
    rocksdb::CompactRangeOptions options;
    options.exclusive_manual_compaction = false;  // merging of sealed runs goes on
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    rocksdb::Slice from(stretch.from), until(stretch.until);
    auto status = families_->db().CompactRange(options, families_->handle(family), &from,
                                               stretch.until.empty() ? nullptr : &until);
    return checked(status, "cannot compact family " + stretch.family);
  }
  return {};
}

}  // namespace evershard::storage
