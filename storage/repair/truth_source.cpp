#include "evershard/storage/repair/truth_source.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "evershard/storage/index/record_fetch.hpp"
#include "evershard/storage/journal/last_commit_mark.hpp"
#include "evershard/storage/order/order_lookup.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/repair/fork.hpp"
#include "evershard/storage/repair/store_maintenance.hpp"
#include "evershard/storage/rocks/rocks_rows.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

Refused lost_commits(GlobalPosition from, GlobalPosition to, const std::filesystem::path& folder) {
  return refuse(ErrorCode::corruption, "acknowledged commits of " + folder.string() + " are lost: positions " +
                                           std::to_string(from.value) + " to " + std::to_string(to.value) +
                                           " are missing");
}

}  // namespace

Result<TruthSource> TruthSource::of(const Store& store) {
  auto maintenance = store.maintenance();
  if (!maintenance) return refuse(ErrorCode::invalid_argument, backup_of_memory);
  TruthSource source;
  source.folder_ = maintenance->folder();
  source.identity_ = store.identity();
  source.rows_ = maintenance->frozen_rows();
  EVERSHARD_TRY(source.find_end(GlobalPosition{0}));
  source.acknowledged_ = source.end_;
  return source;
}

Result<TruthSource> TruthSource::of_closed(const std::filesystem::path& folder) {
  TruthSource source;
  source.folder_ = folder;
  auto lock = DatabaseLock::take(folder);
  if (!lock) return refuse(std::move(lock).error());
  source.lock_ = std::move(*lock);

  StoreOptions options;
  options.create = false;
  options.block_cache_bytes = 8u << 20;
  auto rocks = RocksOptions(options).for_repair();
  auto database = (folder / "db").string();
  std::unique_ptr<RocksFamilies> opened;
  auto status = RocksFamilies::open(rocks, database, /*read_only=*/true, opened);
  if (!status.ok()) {
    auto format = RocksFamilies::stored_identity(rocks, database);
    if (!format && format.error().code == ErrorCode::invalid_argument)
      return refuse(std::move(format).error());  // a newer one
    bool missing =
        status.IsPathNotFound() || status.IsNotFound() || status.ToString().find("No such file") != std::string::npos;
    return refuse(missing ? ErrorCode::corruption : error_of(status, {}).code,
                  "cannot open " + database + ": " + status.ToString());
  }
  std::shared_ptr<const RocksFamilies> families = std::move(opened);
  auto identity = stored_identity(*families);
  if (!identity) return refuse(std::move(identity).error());
  source.identity_ = *identity;
  auto sealed = families->stored_mark();
  if (!sealed) return refuse(std::move(sealed).error());
  source.rows_ = std::make_unique<RocksRows>(std::move(families));
  EVERSHARD_TRY(source.find_end(*sealed));
  return source;
}

Result<void> TruthSource::find_end(GlobalPosition sealed) {
  auto order = recover_order(*rows_, identity_);
  if (!order) return refuse(std::move(order).error());
  end_ = order->watermark;
  auto mark = LastCommitMark::read(folder_ / "MARK");
  if (!mark) return refuse(std::move(mark).error());
  acknowledged_ = std::max({end_, sealed, *mark ? (*mark)->watermark : GlobalPosition{0}});
  return {};
}

Result<GlobalPosition> TruthSource::end_of_copy(std::optional<GlobalPosition> up_to) const {
  auto end = up_to.value_or(acknowledged_);
  if (end > acknowledged_)
    return refuse(ErrorCode::invalid_argument, "there is no position " + std::to_string(end.value) + " in " +
                                                   folder_.string() + ": it ends with position " +
                                                   std::to_string(acknowledged_.value));
  if (end > end_) return lost_commits(end_ + 1, acknowledged_, folder_);
  if (end == end_ || end == GlobalPosition{0}) return end;

  auto found = locate(rows(), end, sharding::CutOf::store);
  if (!found) return refuse(std::move(found).error());
  RecordFetch fetch(rows());
  EVERSHARD_TRY(fetch.fetch(std::span(&*found, 1)));
  auto event = fetch.event(0);
  if (!event) return refuse(std::move(event).error());
  if (event->index + 1 == event->count) return end;
  auto first = end - event->index, last = first + (event->count - 1);
  return refuse(ErrorCode::invalid_argument,
                "position " + std::to_string(end.value) + " lies inside of the append at positions " +
                    std::to_string(first.value) + " to " + std::to_string(last.value) +
                    ", which is copied whole or not at all: end with " + std::to_string(first.value - 1) + " or with " +
                    std::to_string(last.value));
}

}  // namespace evershard::storage
