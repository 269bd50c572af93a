#include "evershard/doors/server/given_part.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "evershard/cluster/removal/retention_intent.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/repair/part_rows.hpp"
#include "evershard/storage/repair/store_copy.hpp"
#include "evershard/storage/repair/store_maintenance.hpp"

namespace evershard::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto applied_within = std::chrono::seconds(30);
constexpr auto settled_within = std::chrono::seconds(10);
constexpr auto looked_for_every = std::chrono::milliseconds(100);

Result<void> wait_until_applied(cluster::ClusterNode& node, GlobalPosition position, const Progress& progress) {
  for (const auto until = Clock::now() + applied_within;;) {
    const auto there = node.wait_for(position, looked_for_every);
    if (there) return {};
    if (there.error().code != ErrorCode::timeout) return refuse(there.error());
    EVERSHARD_TRY(storage::report(progress, 0, 0));
    if (Clock::now() >= until)
      return refuse(ErrorCode::timeout, "this node has not applied position " + std::to_string(position.value) +
                                            " within " + std::to_string(applied_within.count()) + " s");
  }
}

/// Whether an append of a removal of these shards is on its way of which nobody knows yet whether it stands.
Result<bool> has_intents(const storage::Rows& rows, const std::vector<ShardId>& shards) {
  const auto prefix = storage::keys::checkpoint(storage::intent_prefix);
  const auto cursor = rows.cursor(storage::Family::state, {.prefix = prefix});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    const auto intent = cluster::decode_intent(cursor->value());
    if (!intent) return refuse(intent.error());
    if (!intent->shard || std::ranges::find(shards, *intent->shard) != shards.end()) return true;
  }
  EVERSHARD_TRY(cursor->status());
  return false;
}

}  // namespace

Result<void> give_part_of(storage::NodeStore& store, cluster::ClusterNode& node, const PartWanted& wanted,
                          PartTaker& taker, const Progress& progress) {
  const auto maintenance = store.maintenance();
  if (!maintenance) return refuse(ErrorCode::invalid_argument, "this node's part lies in memory: it is not copied");
  EVERSHARD_TRY(wait_until_applied(node, wanted.at_least, progress));
  std::unique_ptr<const storage::Rows> rows;
  storage::PartHead head;
  for (const auto until = Clock::now() + settled_within;;) {
    rows = maintenance->frozen_rows();
    auto told = storage::head_of_part(*rows, store.identity(), wanted.shards);
    if (!told) return refuse(std::move(told).error());
    head = *std::move(told);
    if (wanted.head_only) break;
    const auto unsettled = has_intents(*rows, head.shards);
    if (!unsettled) return refuse(unsettled.error());
    if (!*unsettled) break;
    EVERSHARD_TRY(storage::report(progress, 0, 0));
    if (Clock::now() >= until)
      return refuse(ErrorCode::unavailable, "a removal waits for its order at this node: try again when it is done");
    std::this_thread::sleep_for(looked_for_every);
  }
  auto types = storage::types_beside(maintenance->folder());
  if (!types) return refuse(std::move(types).error());
  EVERSHARD_TRY(taker.head({storage::encode(head.identity), head.watermark, head.shards, *std::move(types)}));
  if (wanted.head_only) return {};
  return storage::give_part(
      *rows, head,
      [&](storage::Family family, std::string_view key, std::string_view value) {
        return taker.row(static_cast<std::uint8_t>(family), key, value);
      },
      progress);
}

}  // namespace evershard::server
