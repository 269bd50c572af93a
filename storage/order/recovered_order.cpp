#include "evershard/storage/order/recovered_order.hpp"

#include <limits>
#include <optional>
#include <string>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

constexpr auto last_number = std::numeric_limits<std::uint64_t>::max();

Result<std::optional<sharding::Cut>> last_cut(const Rows& rows, sharding::CutOf of) {
  auto order = rows.cursor(Family::order, {});
  order->seek_for_prev(keys::order(GlobalPosition{last_number}));
  EVERSHARD_TRY(order->status());
  if (!order->valid()) return std::nullopt;
  auto cut = sharding::decode_cut(order->value(), of);
  if (!cut) return refuse(std::move(cut).error());
  return std::move(*cut);
}

/// The offset behind the last record of a shard, of those that begin where the shard does, or behind.
Result<ShardOffset> journal_end(RowCursor& journal, ShardId shard, ShardOffset begins) {
  journal.seek_for_prev(keys::journal(shard, ShardOffset{last_number}));
  EVERSHARD_TRY(journal.status());
  if (!journal.valid()) return begins;
  auto key = keys::decode_journal(journal.key());
  if (!key) return refuse(std::move(key).error());
  if (key->shard != shard || key->offset < begins) return begins;
  auto record = RecordView::open(journal.value(), shard, key->offset);
  if (!record) return refuse(std::move(record).error());
  return key->offset + record->size();
}

/// A whole store's journal ends with its last cut.
Result<void> check_ends(const sharding::Cut& cut, const std::vector<sharding::OrderState::Shard>& shards) {
  auto ends = shards;  // of the shards the last cut names: their last segment's
  for (const auto& segment : cut.segments)
    if (segment.shard.value < shards.size()) ends[segment.shard.value].next = segment.end;
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (ends[i].next != shards[i].next)
      return corrupt("the records of shard " + std::to_string(i) + " end before offset " +
                     std::to_string(shards[i].next.value) + ", the last cut ends before " +
                     std::to_string(ends[i].next.value));
  return {};
}

}  // namespace

Result<std::map<ShardId, Covered>> covered_rows(const Rows& rows, std::uint32_t shards) {
  std::map<ShardId, Covered> covered;
  auto cursor = rows.cursor(Family::state, {});
  for (cursor->seek(keys::covered(ShardId{0})); cursor->valid(); cursor->next()) {
    auto key = keys::decode_state(cursor->key());
    if (!key) return refuse(std::move(key).error());
    if (key->kind != keys::StateKey::Kind::covered) break;
    if (key->shard.value >= shards)
      return corrupt("a covered row names shard " + std::to_string(key->shard.value) + " of " + std::to_string(shards));
    auto row = decode_covered(cursor->value());
    if (!row) return refuse(std::move(row).error());
    covered.emplace(key->shard, std::move(*row));
  }
  EVERSHARD_TRY(cursor->status());
  return covered;
}

Result<std::vector<ShardOffset>> journal_ends(const Rows& rows, std::uint32_t shards) {
  auto covered = covered_rows(rows, shards);
  if (!covered) return refuse(std::move(covered).error());
  auto journal = rows.cursor(Family::journal, {});
  std::vector<ShardOffset> ends;
  for (std::uint32_t i = 0; i < shards; ++i) {
    const ShardId shard{static_cast<std::uint16_t>(i)};
    const auto at = covered->find(shard);
    auto end = journal_end(*journal, shard, at == covered->end() ? ShardOffset{1} : at->second.begins());
    if (!end) return refuse(std::move(end).error());
    ends.push_back(*end);
  }
  return ends;
}

Result<sharding::OrderState> recover_order(const Rows& rows, const Identity& identity) {
  const bool whole = identity.node == 0;
  const auto shards = identity.shards;
  sharding::OrderState state;
  state.shards.resize(shards);
  auto cut = last_cut(rows, whole ? sharding::CutOf::store : sharding::CutOf::node);
  if (!cut) return refuse(std::move(cut).error());

  auto applied_key = keys::applied();
  std::string_view wanted[] = {applied_key};
  auto row = rows.get(Family::state, wanted);
  if (!row) return refuse(std::move(row).error());
  Applied applied;
  if ((*row)->found(0)) {
    auto decoded = decode_applied((*row)->value(0));
    if (!decoded) return refuse(std::move(decoded).error());
    applied = std::move(*decoded);
  }
  auto number = *cut ? (*cut)->number : CutNumber{0};
  auto watermark = *cut ? (*cut)->last_position() : GlobalPosition{0};
  // A node's cut that gives no position has no row.
  if ((whole ? applied.number != number : applied.number < number) || applied.watermark != watermark)
    return corrupt("the last cut is number " + std::to_string(number.value) + " up to position " +
                   std::to_string(watermark.value) + ", the applied row says number " +
                   std::to_string(applied.number.value) + " up to position " + std::to_string(applied.watermark.value));
  state.last_cut = applied.number;
  state.watermark = watermark;
  state.coordinator = applied.coordinator;
  for (const auto& [shard, epoch] : applied.epochs) {
    if (shard.value >= shards)
      return corrupt("the applied row names shard " + std::to_string(shard.value) + " of " + std::to_string(shards));
    state.shards[shard.value].epoch = epoch;
  }

  auto ends = journal_ends(rows, shards);
  if (!ends) return refuse(std::move(ends).error());
  if (!whole) {
    auto covered = covered_rows(rows, shards);
    if (!covered) return refuse(std::move(covered).error());
    for (const auto& [shard, at] : *covered) state.shards[shard.value].next = at.end;
    for (std::uint32_t i = 0; i < shards; ++i)
      if (state.shards[i].next > (*ends)[i])
        return corrupt("the records of shard " + std::to_string(i) + " end before offset " +
                       std::to_string((*ends)[i].value) + ", cuts cover it up to offset " +
                       std::to_string(state.shards[i].next.value - 1));
    return state;
  }
  for (std::uint32_t i = 0; i < shards; ++i) state.shards[i].next = (*ends)[i];
  if (*cut) EVERSHARD_TRY(check_ends(**cut, state.shards));
  return state;
}

}  // namespace evershard::storage
