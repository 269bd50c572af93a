#include "evershard/storage/journal/recovered_journal.hpp"

#include <map>
#include <string>
#include <utility>

#include "evershard/storage/journal/append_reader.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

using WaitingRows = std::map<std::pair<ShardId, ShardOffset>, WaitingRow>;

Result<WaitingRows> read_waiting(const Rows& rows, std::uint32_t shards) {
  WaitingRows waiting;
  auto cursor = rows.cursor(Family::state, {});
  for (cursor->seek(keys::waiting(ShardId{0}, ShardOffset{0})); cursor->valid(); cursor->next()) {
    auto key = keys::decode_state(cursor->key());
    if (!key) return refuse(std::move(key).error());
    if (key->kind != keys::StateKey::Kind::waiting) break;
    if (key->shard.value >= shards)
      return corrupt("a waiting append is of shard " + std::to_string(key->shard.value) + " of " +
                     std::to_string(shards));
    auto row = decode_waiting(cursor->value());
    if (!row) return refuse(std::move(row).error());
    waiting.emplace(std::pair(key->shard, key->offset), std::move(*row));
  }
  EVERSHARD_TRY(cursor->status());
  return waiting;
}

/// Goes through one shard's journal behind the cuts.
Result<void> read_tail(const Rows& rows, ShardId shard, ShardOffset from, ShardOffset end, ShardOffset settled,
                       const sharding::TermHasher& hasher, WaitingRows& waiting, RecoveredJournal& recovered) {
  const auto missing = [&](ShardOffset offset) {
    return corrupt("the record of shard " + std::to_string(shard.value) + " with offset " +
                   std::to_string(offset.value) + " is missing");
  };
  AppendReader reader(shard, hasher, settled, recovered.appends);
  auto journal = rows.cursor(Family::journal, {.prefix = {}, .scan = true});
  journal->seek_for_prev(keys::journal(shard, from));
  for (auto offset = from; offset < end; journal->next()) {
    EVERSHARD_TRY(journal->status());
    if (!journal->valid()) return missing(offset);
    auto key = keys::decode_journal(journal->key());
    if (!key) return refuse(std::move(key).error());
    if (key->shard != shard || key->offset > offset) return missing(offset);
    auto record = RecordView::open(journal->value(), shard, key->offset);
    if (!record) return refuse(std::move(record).error());
    for (; offset < end && offset < key->offset + record->size(); ++offset) {
      const auto index = static_cast<std::uint16_t>(offset - key->offset);
      auto event = record->event(index);
      if (!event) return refuse(std::move(event).error());
      const auto row = reader.begins() ? waiting.find({shard, offset}) : waiting.end();
      EVERSHARD_TRY(reader.take(*event, offset, row == waiting.end() ? nullptr : &row->second));
      if (row != waiting.end()) {
        recovered.unordered.add(shard, offset, std::move(row->second));
        waiting.erase(row);
      }
      const auto& append = recovered.appends.back();
      recovered.unordered.add(tail_event(append, append.append.events.size() - 1, {shard, key->offset, index}));
    }
  }
  recovered.unordered.end_batch();
  return reader.finish(end);
}

}  // namespace

Result<RecoveredJournal> recover_journal(const Rows& rows, const Identity& identity, const sharding::TermHasher& hasher,
                                         const sharding::OrderState& order) {
  RecoveredJournal recovered{{}, Unordered(identity.shards), {}, {}};
  for (const auto& shard : order.shards) recovered.ends.push_back(shard.next);
  if (identity.node == 0) return recovered;

  auto ends = journal_ends(rows, identity.shards);
  if (!ends) return refuse(std::move(ends).error());
  auto covered = covered_rows(rows, identity.shards);
  if (!covered) return refuse(std::move(covered).error());
  recovered.covered = std::move(*covered);
  auto refused = refused_rows(rows, recovered.covered);
  if (!refused) return refuse(std::move(refused).error());
  recovered.refused = std::move(*refused);
  auto waiting = read_waiting(rows, identity.shards);
  if (!waiting) return refuse(std::move(waiting).error());
  recovered.ends = std::move(*ends);
  for (std::uint32_t i = 0; i < identity.shards; ++i) {
    if (order.shards[i].next == recovered.ends[i]) continue;
    const ShardId shard{static_cast<std::uint16_t>(i)};
    const auto row = recovered.covered.find(shard);
    const auto settled = row == recovered.covered.end() ? ShardOffset{0} : row->second.settled;
    EVERSHARD_TRY(
        read_tail(rows, shard, order.shards[i].next, recovered.ends[i], settled, hasher, *waiting, recovered));
  }
  if (!waiting->empty()) {
    const auto& [shard, offset] = waiting->begin()->first;
    return corrupt("an append waits in shard " + std::to_string(shard.value) + " at offset " +
                   std::to_string(offset.value) + ", where there is none");
  }
  return recovered;
}

}  // namespace evershard::storage
