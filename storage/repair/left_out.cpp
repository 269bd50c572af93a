#include "evershard/storage/repair/left_out.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/rocks/rocks_rows.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

struct WholeCopy {
  RecordedSnapshot snapshot;
  std::optional<std::uint32_t> keep;
};

struct AggregateLeft {
  AggregateId aggregate;
  bool latest_goes = false;
  bool latest_stays = false;
  std::optional<WholeCopy> newest;  ///< of the retained copies that stay
};

/// What stays of the snapshots of one aggregate. Shape: `snapshots` is in order.
AggregateLeft what_stays(const Rows& rows, const AggregateId& aggregate, const std::vector<std::string>& snapshots) {
  AggregateLeft left;
  left.aggregate = aggregate;
  const auto prefix = keys::snapshot_prefix(aggregate);
  const auto at = rows.cursor(Family::state, {.prefix = prefix});
  for (at->seek(prefix); at->valid() && at->key().starts_with(prefix); at->next()) {
    const auto key = keys::decode_state(at->key());
    // What has no such key is no snapshot of it.
    if (!key || key->kind != keys::StateKey::Kind::snapshot || key->aggregate != aggregate) continue;
    const bool goes = std::ranges::binary_search(snapshots, at->key());
    if (!key->retained) {
      (goes ? left.latest_goes : left.latest_stays) = true;
      continue;
    }
    if (goes) continue;
    WholeCopy copy;
    auto snapshot = decode_snapshot(at->value(), aggregate, &copy.keep);
    if (!snapshot) continue;
    copy.snapshot = *std::move(snapshot);
    left.newest = std::move(copy);  // their keys ascend by version
  }
  return left;
}

std::vector<AggregateLeft> what_stays_of(const Rows& rows, std::vector<std::string> snapshots) {
  std::ranges::sort(snapshots);
  std::vector<AggregateLeft> all;
  for (const auto& key : snapshots) {
    const auto decoded = keys::decode_state(key);
    if (!decoded || decoded->kind != keys::StateKey::Kind::snapshot) continue;  // it is none
    if (!all.empty() && all.back().aggregate == decoded->aggregate) continue;
    all.push_back(what_stays(rows, decoded->aggregate, snapshots));
  }
  return all;
}

}  // namespace

Result<std::vector<std::string>> said_of_snapshots(const Rows& rows, const std::vector<std::string>& snapshots) {
  std::vector<std::string> said;
  for (const auto& left : what_stays_of(rows, snapshots)) {
    const auto of = "the snapshot of " + in_quotes(left.aggregate.text());
    const auto removed = removed_of(rows, left.aggregate);
    if (!removed && removed.error().code != ErrorCode::corruption) return refuse(removed.error());
    const auto gone_to = removed && *removed ? (*removed)->before.value - 1 : 0;
    const bool made = left.latest_stays || (left.newest && left.newest->snapshot.version.value >= gone_to);
    if (left.latest_stays)
      said.push_back("leaves out a damaged retained copy of " + of);
    else if (!made && gone_to > 0)
      said.push_back("leaves out " + of + ", which is damaged: its events up to number " + std::to_string(gone_to) +
                     " are removed, its state cannot be made any more");
    else if (left.newest)
      said.push_back("leaves out " + of + ", which is damaged: its copy of version " +
                     std::to_string(left.newest->snapshot.version.value) + " takes its place");
    else
      said.push_back("leaves out " + of + ", which is damaged: its state is made from its events");
  }
  return said;
}

Result<void> leave_out(RocksFamilies& families, const RocksOptions& rocks, const LeftOut& what) {
  std::vector<AggregateLeft> left;
  if (!what.snapshots.empty()) {
    // Not owned: the rows are looked at before anything goes.
    const std::shared_ptr<const RocksFamilies> seen(std::shared_ptr<void>(), &families);
    left = what_stays_of(RocksRows(seen), what.snapshots);
  }
  rocksdb::WriteBatch batch;
  auto* const state = families.handle(Family::state);
  for (const auto* const keys : {&what.snapshots, &what.removals})
    for (const auto& key : *keys) batch.Delete(state, key);
  for (auto& [aggregate, latest_goes, latest_stays, newest] : left) {
    if (latest_goes && may_lie_in_two_rows(aggregate)) batch.Delete(state, snapshot_base_key(aggregate));
    if (!latest_goes || !newest) continue;
    batch.Put(state, keys::snapshot(aggregate, std::nullopt), encode_latest_snapshot(newest->snapshot, newest->keep));
  }
  if (batch.Count() > 0) {
    rocksdb::WriteOptions synced;
    synced.sync = true;
    EVERSHARD_TRY(checked(families.db().Write(synced, &batch), "cannot take out damaged rows"));
  }
  if (!what.indexes) return {};
  EVERSHARD_TRY(families.clear_mark(rocks));
  return families.clear_indexes(rocks);
}

}  // namespace evershard::storage
