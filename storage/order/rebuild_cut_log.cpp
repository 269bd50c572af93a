#include "evershard/storage/order/rebuild_cut_log.hpp"

#include <string>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"
#include "evershard/storage/repair/truth_source.hpp"

namespace evershard::storage {
namespace {

Result<void> read_cuts(const Rows& rows, std::uint32_t node, sharding::RebuiltOrder& order) {
  auto cursor = rows.cursor(Family::order, {.prefix = {}, .scan = true});
  for (cursor->seek(keys::order(GlobalPosition{0})); cursor->valid(); cursor->next()) {
    auto cut = sharding::decode_cut(cursor->value(), sharding::CutOf::node);
    if (!cut) return refuse(std::move(cut).error());
    order.add(node, *cut);
  }
  return cursor->status();
}

Result<void> same_cluster(const Identity& first, const Identity& next, const std::filesystem::path& folder) {
  if (first.store == next.store && first.fork == next.fork && first.shards == next.shards &&
      first.term_key == next.term_key && first.hash == next.hash)
    return {};
  return refuse(ErrorCode::invalid_argument, folder.string() + " is of cluster " + next.store.text() +
                                                 ", the first directory of " + first.store.text());
}

/// Epoch 1 is what is said of a shard that was never here too: then there is nothing of it.
sharding::HeldOrder held_by(std::uint32_t node, const sharding::OrderState& order, const std::vector<ShardOffset>& ends,
                            const std::map<ShardId, Covered>& covered) {
  sharding::HeldOrder held;
  held.node = node;
  held.last_cut = order.last_cut;
  held.watermark = order.watermark;
  held.coordinator = order.coordinator;
  for (std::size_t s = 0; s != order.shards.size(); ++s) {
    const auto& shard = order.shards[s];
    const bool here = shard.epoch > Epoch{1} || shard.next != ShardOffset{1} || ends[s] != ShardOffset{1};
    auto& held_shard = held.shards.emplace_back(sharding::HeldOrder::Shard{here ? shard.epoch : Epoch{0}, shard.next});
    const auto row = covered.find(ShardId{static_cast<std::uint16_t>(s)});
    if (row == covered.end()) continue;
    for (const auto& lost : row->second.lost) held_shard.losses.push_back({lost.epoch, lost.from});
  }
  return held;
}

}  // namespace

Result<RebuiltCutLog> look_for_cut_log(const std::vector<std::filesystem::path>& nodes, const Progress& progress) {
  if (nodes.empty())
    return refuse(ErrorCode::invalid_argument,
                  "a cut log is made anew from the directories of all nodes: none is given");
  RebuiltCutLog rebuilt;
  std::optional<sharding::RebuiltOrder> order;
  for (std::size_t n = 0; n != nodes.size(); ++n) {
    const auto& folder = nodes[n];
    EVERSHARD_TRY(report(progress, n, nodes.size()));
    auto source = TruthSource::of_closed(folder);
    if (!source) return refuse(std::move(source).error());
    const Identity& identity = source->identity();
    if (identity.node == 0)
      return refuse(ErrorCode::invalid_argument, folder.string() + " is a whole store, not a node's part of one");
    if (!order) {
      rebuilt.identity = identity;
      order.emplace(identity.shards);
    } else {
      EVERSHARD_TRY(same_cluster(rebuilt.identity, identity, folder));
    }
    auto state = recover_order(source->rows(), identity);
    if (!state) return refuse(std::move(state).error());
    auto ends = journal_ends(source->rows(), identity.shards);
    if (!ends) return refuse(std::move(ends).error());
    auto covered = covered_rows(source->rows(), identity.shards);
    if (!covered) return refuse(std::move(covered).error());
    EVERSHARD_TRY(order->add(held_by(identity.node, *state, *ends, *covered)));
    EVERSHARD_TRY(read_cuts(source->rows(), identity.node, *order));
  }
  auto outcome = order->finish();
  if (!outcome) return refuse(std::move(outcome).error());
  rebuilt.order = std::move(*outcome);
  rebuilt.identity.node = 0;
  rebuilt.identity.format = format_of_whole_store;
  return rebuilt;
}

Result<void> write_cut_log(const std::filesystem::path& folder, const RebuiltCutLog& rebuilt) {
  {
    CutLogOptions options{.data_dir = folder, .shards = rebuilt.identity.shards};
    options.begins_with = CutLogBeginning{rebuilt.identity, rebuilt.order.state};
    auto made = open_cut_log(options);
    if (!made) return refuse(std::move(made).error());
  }
  auto again = open_cut_log({.data_dir = folder, .create = false});
  if (!again) return refuse(std::move(again).error());
  if ((*again)->state() != rebuilt.order.state || (*again)->identity() != rebuilt.identity)
    return refuse(ErrorCode::corruption,
                  "the cut log in " + folder.string() + " reads back as another one than was written: do not use it");
  return {};
}

}  // namespace evershard::storage
