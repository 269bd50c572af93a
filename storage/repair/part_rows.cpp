#include "evershard/storage/repair/part_rows.hpp"

#include <algorithm>
#include <string>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/node_cut.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/repair/kept_state.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t given_rows_between_reports = 256;

bool is_wanted(const std::vector<ShardId>& shards, ShardId shard) {
  return shards.empty() || std::ranges::find(shards, shard) != shards.end();
}

}  // namespace

Result<PartHead> head_of_part(const Rows& rows, const Identity& identity, const std::vector<ShardId>& shards) {
  if (identity.node == 0)
    return refuse(ErrorCode::invalid_argument, "this store is one process's, it is no part of a cluster's");
  for (const ShardId shard : shards)
    if (shard.value >= identity.shards)
      return refuse(ErrorCode::invalid_argument, "there is no shard " + std::to_string(shard.value) +
                                                     ": this cluster " + "has " + std::to_string(identity.shards));
  const auto order = recover_order(rows, identity);
  if (!order) return refuse(order.error());
  const auto covered = covered_rows(rows, identity.shards);
  if (!covered) return refuse(covered.error());
  PartHead head{identity, order->watermark, {}};
  for (std::uint32_t s = 0; s != identity.shards; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    const auto at = covered->find(shard);
    if ((at == covered->end() || !at->second.damaged) && is_wanted(shards, shard)) head.shards.push_back(shard);
  }
  return head;
}

Result<StateOfPart> state_of_part(std::string_view key, std::uint32_t shards) {
  const auto decoded = keys::decode_state(key);
  if (!decoded) return refuse(decoded.error());
  using Kind = keys::StateKey::Kind;
  if (decoded->kind == Kind::snapshot)
    return StateOfPart{sharding::shard_of(sharding::stream_hash(decoded->aggregate), shards)};
  if (decoded->kind != Kind::checkpoint) return StateOfPart{};
  const std::string_view name = decoded->name;
  for (const auto prefix : {removed_prefix, removing_prefix}) {
    if (!name.starts_with(prefix)) continue;
    const auto aggregate = AggregateId::parse(name.substr(prefix.size()));
    if (!aggregate) return refuse(ErrorCode::corruption, "a row of what is removed names no aggregate");
    return StateOfPart{sharding::shard_of(sharding::stream_hash(*aggregate), shards)};
  }
  return StateOfPart{};
}

Result<void> give_part(const Rows& rows, const PartHead& head, const PartSink& sink, const Progress& progress) {
  const auto covered = covered_rows(rows, head.identity.shards);
  if (!covered) return refuse(covered.error());
  const auto end_of = [&](ShardId shard) {
    const auto at = covered->find(shard);
    return at == covered->end() ? ShardOffset{1} : at->second.end;
  };
  std::uint64_t total = 0, done = 0, given = 0;
  for (const ShardId shard : head.shards) total += end_of(shard) - ShardOffset{1};
  const auto is_given = [&](const sharding::Segment& segment) {
    return std::ranges::binary_search(head.shards, segment.shard);
  };
  const auto told = [&]() -> Result<void> {
    return given++ % given_rows_between_reports == 0 ? report(progress, done, total) : Result<void>();
  };

  const auto order = rows.cursor(Family::order, {.prefix = {}, .scan = true});
  for (order->seek(keys::order(GlobalPosition{0})); order->valid(); order->next()) {
    EVERSHARD_TRY(told());
    const auto cut = sharding::decode_cut(order->value(), sharding::CutOf::node);
    if (!cut) return refuse(cut.error());
    EVERSHARD_TRY(sink(Family::order, order->key(), sharding::encode(sharding::cut_of_node(*cut, is_given, {}))));
  }
  EVERSHARD_TRY(order->status());

  const auto journal = rows.cursor(Family::journal, {.prefix = {}, .scan = true});
  for (const ShardId shard : head.shards) {
    const auto before = done;
    const auto end = end_of(shard);
    for (journal->seek(keys::journal(shard, ShardOffset{0})); journal->valid(); journal->next()) {
      const auto key = keys::decode_journal(journal->key());
      if (!key) return refuse(key.error());
      if (key->shard != shard || key->offset >= end) break;
      done = before + (key->offset - ShardOffset{1});
      EVERSHARD_TRY(told());
      EVERSHARD_TRY(sink(Family::journal, journal->key(), journal->value()));
    }
    EVERSHARD_TRY(journal->status());
    done = before + (end - ShardOffset{1});
  }

  const auto state = rows.cursor(Family::state, {.prefix = {}, .scan = true});
  for (state->seek({}); state->valid(); state->next()) {
    EVERSHARD_TRY(told());
    const auto of = state_of_part(state->key(), head.identity.shards);
    if (!of) return refuse(of.error());
    if (!of->shard || !std::ranges::binary_search(head.shards, *of->shard)) continue;
    const auto row = whole_state_row(rows, state->key(), state->value());
    if (!row) return refuse(row.error());
    EVERSHARD_TRY(sink(Family::state, state->key(), *row));
  }
  EVERSHARD_TRY(state->status());
  return report(progress, total, total);
}

}  // namespace evershard::storage
