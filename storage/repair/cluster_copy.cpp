#include "evershard/storage/repair/cluster_copy.hpp"

#include <system_error>
#include <utility>

#include "evershard/storage/options.hpp"
#include "evershard/storage/repair/joined_parts.hpp"
#include "evershard/storage/repair/new_rows.hpp"
#include "evershard/storage/repair/store_copy.hpp"
#include "evershard/storage/repair/store_from_truth.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"
#include "evershard/storage/rocks/rocks_rows.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

StoreOptions options_of_part() {
  StoreOptions options;
  options.block_cache_bytes = 32u << 20;
  options.memtable_bytes = 16u << 20;
  return options;
}

Refused no_room(const std::string& doing, const std::error_code& error) {
  return refuse(ErrorCode::io, doing + ": " + error.message());
}

class PartBeingGiven final : public PartFolder {
 public:
  static Result<std::unique_ptr<PartFolder>> begin(const std::filesystem::path& folder) {
    auto families = create_database(options_of_part(), true, folder);
    if (!families) return refuse(std::move(families).error());
    return std::unique_ptr<PartFolder>(new PartBeingGiven(std::move(*families)));
  }
  Result<void> put(Family family, std::string_view key, std::string_view value) override {
    rows_.put(family, key, value);
    return rows_.written();
  }
  Result<void> finish() override { return rows_.finish(); }

 private:
  explicit PartBeingGiven(std::unique_ptr<RocksFamilies> families)
      : families_(std::move(families)), rows_(*families_) {}
  const std::unique_ptr<RocksFamilies> families_;
  NewRows rows_;
};

class CopyOfCluster final : public ClusterCopy {
 public:
  explicit CopyOfCluster(StoreCopy copy) : copy_(std::move(copy)) {}

  Result<std::unique_ptr<PartFolder>> begin_part(std::uint32_t number) override {
    const auto folder = folder_of(number);
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    if (error) return no_room("cannot remove " + folder.string(), error);
    std::filesystem::create_directories(folder, error);
    if (error) return no_room("cannot create " + folder.string(), error);
    return PartBeingGiven::begin(folder);
  }

  Result<void> finish(const std::vector<GivenPart>& parts, const ClusterCopyOptions& how,
                      const Progress& progress) override {
    auto opened = open(parts);
    if (!opened) return refuse(std::move(opened).error());
    EVERSHARD_TRY(join(*opened, how, progress));
    opened->clear();
    std::error_code error;
    std::filesystem::remove_all(parts_folder(), error);
    if (error) return no_room("cannot remove " + parts_folder().string(), error);
    return settle(parts.front().identity, how, progress);
  }

  Result<void> finish_from(const std::vector<StorePart>& parts, const ClusterCopyOptions& how,
                           const Progress& progress) override {
    EVERSHARD_TRY(join(parts, how, progress));
    return settle(parts.front().identity, how, progress);
  }

 private:
  [[nodiscard]] std::filesystem::path parts_folder() const { return copy_.folder() / StoreCopy::parts; }
  [[nodiscard]] std::filesystem::path folder_of(std::uint32_t number) const {
    return parts_folder() / std::to_string(number);
  }
  Result<void> join(const std::vector<StorePart>& parts, const ClusterCopyOptions& how, const Progress& progress) {
    auto options = options_of_part();
    options.data_dir = copy_.folder();
    const JoinedPartsOptions joining{
        .keeps = how.keeps, .compact = how.truth_only, .without_state = how.without_state, .left_out = how.left_out};
    return join_parts(parts, joining, options, copy_.database(), part_of(progress, 0, 50));
  }
  Result<void> settle(const Identity& source, const ClusterCopyOptions& how, const Progress& progress) {
    EVERSHARD_TRY(copy_.carry(how.types));
    EVERSHARD_TRY(store_of_copied_truth(source, {.end = how.keeps, .indexes = !how.truth_only}, copy_,
                                        part_of(progress, 50, 100)));
    EVERSHARD_TRY(copy_.finish());
    if (progress) progress(100, 100);
    return {};
  }
  Result<std::vector<StorePart>> open(const std::vector<GivenPart>& parts) const {
    std::vector<StorePart> opened;
    for (const auto& part : parts) {
      const auto folder = folder_of(part.number).string();
      std::unique_ptr<RocksFamilies> families;
      EVERSHARD_TRY(checked(RocksFamilies::open(RocksOptions(options_of_part()).for_repair(), folder,
                                                /*read_only=*/true, families),
                            "cannot open " + folder));
      opened.push_back({std::make_shared<RocksRows>(std::shared_ptr<const RocksFamilies>(std::move(families))),
                        part.identity, part.shards});
    }
    return opened;
  }

  StoreCopy copy_;
};

}  // namespace

Result<std::unique_ptr<ClusterCopy>> ClusterCopy::begin(const std::filesystem::path& target) {
  auto copy = StoreCopy::begin(target);
  if (!copy) return refuse(std::move(copy).error());
  return std::unique_ptr<ClusterCopy>(std::make_unique<CopyOfCluster>(std::move(*copy)));
}

}  // namespace evershard::storage
