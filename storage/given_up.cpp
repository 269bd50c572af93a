#include "evershard/storage/given_up.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <rocksdb/write_batch.h>

#include "evershard/sharding/node_cut.hpp"
#include "evershard/sharding/runs.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/repair/kept_state.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t batch_bytes_max = 1u << 20;

using Offsets = std::map<ShardId, ShardOffset>;
using Positions = std::map<ShardId, GlobalPosition>;

/// Rows in batches of their own: the log keeps their sequence, and the last one is synced.
class GivenUpWrites {
 public:
  explicit GivenUpWrites(RocksFamilies& families) : families_(families) {}
  Result<void> put(Family family, std::string_view key, std::string_view value) {
    EVERSHARD_TRY(checked(batch_.Put(families_.handle(family), rocksdb::Slice(key.data(), key.size()),
                                     rocksdb::Slice(value.data(), value.size())),
                          failed));
    return batch_.GetDataSize() < batch_bytes_max ? Result<void>() : write(false);
  }
  Result<void> erase(Family family, std::string_view key) {
    EVERSHARD_TRY(checked(batch_.Delete(families_.handle(family), rocksdb::Slice(key.data(), key.size())), failed));
    return batch_.GetDataSize() < batch_bytes_max ? Result<void>() : write(false);
  }
  Result<void> write(bool sync) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    auto status = families_.db().Write(options, &batch_);
    batch_.Clear();
    return checked(status, failed);
  }

 private:
  static constexpr const char* failed = "cannot take off what was given up";
  RocksFamilies& families_;
  rocksdb::WriteBatch batch_;
};

/// Each cut that gives of these shards from there on.
Result<void> for_each_cut(const Rows& rows, const Offsets& from,
                          const std::function<Result<void>(std::string_view key, const sharding::Cut& cut)>& take) {
  auto order = rows.cursor(Family::order, {.prefix = {}, .scan = true});
  for (order->seek(keys::order(GlobalPosition{0})); order->valid(); order->next()) {
    const auto cut = sharding::decode_cut(order->value(), sharding::CutOf::node);
    if (!cut) return refuse(cut.error());
    for (const auto& segment : cut->segments) {
      const auto at = segment.is_elsewhere() ? from.end() : from.find(segment.shard);
      if (at == from.end() || segment.end <= at->second) continue;
      EVERSHARD_TRY(take(order->key(), *cut));
      break;
    }
  }
  return order->status();
}

/// The first position of what goes, of each shard that has one: offsets and positions ascend together.
Result<Positions> first_positions(const Rows& rows, const Offsets& from) {
  Positions first;
  EVERSHARD_TRY(for_each_cut(rows, from, [&](std::string_view, const sharding::Cut& cut) -> Result<void> {
    for (const auto& run : sharding::runs_of(cut)) {
      const auto at = from.find(run.shard);
      if (at == from.end() || run.offset + run.count <= at->second) continue;
      first.emplace(run.shard, run.position + (at->second > run.offset ? at->second - run.offset : 0));
    }
    return {};
  }));
  return first;
}

/// One aggregate's rows, in order of key: the latest with the state itself.
struct AggregateSnapshots {
  AggregateId aggregate;
  std::map<std::string, std::string> rows;
};

/// A state that lies in two rows goes whole, and one that stays is left as it lies.
Result<void> settle(const AggregateSnapshots& of, GlobalPosition first, GivenUpWrites& writes) {
  std::map<std::string, std::string> staying;
  KeptState kept({.keeps = first - 1}, [&](std::string_view key, std::string_view value) {
    staying.insert_or_assign(std::string(key), std::string(value));
  });
  for (const auto& [key, row] : of.rows) {
    if (!kept.take(key, row)) staying.emplace(key, row);  // a damaged row counts as missing
  }
  kept.finish();
  const auto latest = keys::snapshot(of.aggregate, std::nullopt);
  for (const auto& [key, row] : of.rows) {
    const auto stays = staying.find(key);
    if (stays != staying.end() && stays->second == row) continue;
    if (stays == staying.end())
      EVERSHARD_TRY(writes.erase(Family::state, key));
    else
      EVERSHARD_TRY(writes.put(Family::state, key, stays->second));
    // Behind it: what is left of a crash in between is a base that nobody needs.
    if (key == latest && may_lie_in_two_rows(of.aggregate))
      EVERSHARD_TRY(writes.erase(Family::state, snapshot_base_key(of.aggregate)));
  }
  return {};
}

Result<void> take_off_snapshots(const Rows& rows, const Positions& first, std::uint32_t shards, GivenUpWrites& writes) {
  AggregateSnapshots at_hand;
  const auto settle_it = [&]() -> Result<void> {
    if (at_hand.rows.empty()) return {};
    const auto found = first.find(sharding::shard_of(sharding::stream_hash(at_hand.aggregate), shards));
    auto of = std::exchange(at_hand, {});
    return found == first.end() ? Result<void>() : settle(of, found->second, writes);
  };
  auto cursor = rows.cursor(Family::state, {});
  for (cursor->seek(std::string(1, static_cast<char>(keys::StateKey::Kind::snapshot))); cursor->valid();
       cursor->next()) {
    auto key = keys::decode_state(cursor->key());
    if (!key) return refuse(std::move(key).error());
    if (key->kind != keys::StateKey::Kind::snapshot) break;
    if (key->aggregate != at_hand.aggregate) {
      EVERSHARD_TRY(settle_it());
      at_hand.aggregate = key->aggregate;
    }
    auto row = whole_state_row(rows, cursor->key(), cursor->value());
    if (!row) return refuse(std::move(row).error());
    at_hand.rows.emplace(cursor->key(), *std::move(row));
  }
  EVERSHARD_TRY(cursor->status());
  return settle_it();
}

/// What was removed of events that are no more: events that are appended under their numbers are others. What is still
/// being removed is looked at by who opens the store.
Result<void> take_off_removals(const Rows& rows, const Positions& first, std::uint32_t shards, GivenUpWrites& writes) {
  const auto removed = removal_rows(rows, removed_prefix);
  if (!removed) return refuse(removed.error());
  for (const auto& [aggregate, row] : removed->rows) {
    const auto found = first.find(sharding::shard_of(sharding::stream_hash(aggregate), shards));
    if (found != first.end() && row.last >= found->second)
      EVERSHARD_TRY(writes.erase(Family::state, removed_key(aggregate)));
  }
  return {};
}

/// One shard's records, in order.
class RecordWalk {
 public:
  RecordWalk(const Rows& rows, ShardId shard)
      : shard_(shard), journal_(rows.cursor(Family::journal, {.prefix = {}, .scan = true})) {}

  /// Shape: offsets ascend. Errors: corruption: there is no record of it, or it cannot be read
  Result<void> read(ShardOffset offset) {
    if (!begun_) journal_->seek_for_prev(keys::journal(shard_, offset));
    if (!std::exchange(begun_, true)) EVERSHARD_TRY(open());
    while (here_ && offset >= behind_) {
      journal_->next();
      EVERSHARD_TRY(open());
    }
    if (!here_ || offset < first_)
      return refuse(ErrorCode::corruption, "the record of shard " + std::to_string(shard_.value) + " with offset " +
                                               std::to_string(offset.value) + " is missing");
    const auto event = record_->event(offset - first_);
    return event ? Result<void>() : refuse(event.error());
  }

 private:
  Result<void> open() {
    EVERSHARD_TRY(journal_->status());
    here_ = false;
    if (!journal_->valid()) return {};
    const auto key = keys::decode_journal(journal_->key());
    if (!key) return refuse(key.error());
    if (key->shard != shard_) return {};
    record_ = RecordView::open(journal_->value(), shard_, key->offset);
    if (!record_) return refuse(record_.error());
    here_ = true;
    first_ = key->offset;
    behind_ = first_ + record_->size();
    return {};
  }
  const ShardId shard_;
  decltype(std::declval<const Rows&>().cursor(Family::journal, {})) journal_;
  Result<RecordView> record_ = refuse(ErrorCode::corruption, "no record");
  ShardOffset first_, behind_;
  bool begun_ = false, here_ = false;
};

/// A damaged record that is in the indexes is reported to every reader of its events. Indexes cannot be made anew
/// without the record: no reader would be told of the damage.
Result<void> check_what_stays(const Rows& rows, const Offsets& from) {
  std::map<ShardId, RecordWalk> walks;
  auto order = rows.cursor(Family::order, {.prefix = {}, .scan = true});
  for (order->seek(keys::order(GlobalPosition{0})); order->valid(); order->next()) {
    const auto cut = sharding::decode_cut(order->value(), sharding::CutOf::node);
    if (!cut) return refuse(cut.error());
    for (const auto& run : sharding::runs_of(*cut)) {
      const auto gone = from.find(run.shard);
      auto end = run.offset + run.count;
      if (gone != from.end()) end = std::min(end, gone->second);
      auto& walk = walks.try_emplace(run.shard, rows, run.shard).first->second;
      for (auto offset = run.offset; offset < end; offset = offset + 1) {
        const auto read = walk.read(offset);
        if (read) continue;
        return refuse(read.error().code, "what was given up of shard " + std::to_string(from.begin()->first.value) +
                                             " is not taken off this disk, nothing was changed: indexes are made anew "
                                             "for it, and a record that stays cannot be read: " +
                                             read.error().what +
                                             ". Give this node a backup of its disk from before the damage; or an "
                                             "empty directory, and its shards to others or to itself " +
                                             "(evershard cluster assign), accepting what is lost of them");
      }
    }
  }
  return order->status();
}

Result<void> take_off_records(const Rows& rows, ShardId shard, ShardOffset from, ShardOffset end,
                              GivenUpWrites& writes) {
  auto journal = rows.cursor(Family::journal, {.prefix = {}, .scan = true});
  for (journal->seek(keys::journal(shard, from)); journal->valid(); journal->next()) {
    const auto key = keys::decode_journal(journal->key());
    if (!key) return refuse(key.error());
    if (key->shard != shard || key->offset >= end) break;
    EVERSHARD_TRY(writes.erase(Family::journal, journal->key()));
  }
  return journal->status();
}

}  // namespace

Result<Offsets> given_up(const Rows& rows, std::uint32_t shards) {
  auto covered = covered_rows(rows, shards);
  if (!covered) return refuse(std::move(covered).error());
  Offsets from;
  for (const auto& [shard, row] : *covered)
    if (row.gone_from.value != 0) from.emplace(shard, row.gone_from);
  return from;
}

Result<void> take_off_given_up(RocksFamilies& families, const RocksOptions& options, const Rows& rows,
                               const Identity& identity, const std::function<void()>& step) {
  auto covered = covered_rows(rows, identity.shards);
  if (!covered) return refuse(std::move(covered).error());
  auto from = given_up(rows, identity.shards);
  if (!from) return refuse(std::move(from).error());
  const auto first = first_positions(rows, *from);
  if (!first) return refuse(first.error());
  const auto mark = families.stored_mark();
  if (!mark) return refuse(mark.error());
  const bool indexed = std::ranges::any_of(*first, [&](const auto& one) { return one.second <= *mark; });
  if (indexed) EVERSHARD_TRY(check_what_stays(rows, *from));
  // The mark goes first: once a cut does not name them any more, nobody knows that the indexes do.
  if (indexed) EVERSHARD_TRY(families.clear_mark(options));
  step();
  GivenUpWrites writes(families);
  EVERSHARD_TRY(take_off_snapshots(rows, *first, identity.shards, writes));
  EVERSHARD_TRY(take_off_removals(rows, *first, identity.shards, writes));
  EVERSHARD_TRY(writes.write(false));
  step();
  EVERSHARD_TRY(for_each_cut(rows, *from, [&](std::string_view key, const sharding::Cut& cut) {
    std::string bytes;
    sharding::encode(sharding::without(cut, *from), bytes);
    return writes.put(Family::order, key, bytes);
  }));
  EVERSHARD_TRY(writes.write(false));
  step();
  for (const auto& [shard, offset] : *from)
    EVERSHARD_TRY(take_off_records(rows, shard, offset, covered->at(shard).begins(), writes));
  EVERSHARD_TRY(writes.write(false));
  step();
  for (const auto& [shard, offset] : *from) {
    auto& row = covered->at(shard);
    row.gone_from = ShardOffset{0};
    EVERSHARD_TRY(writes.put(Family::state, keys::covered(shard), encode_covered(row)));
  }
  EVERSHARD_TRY(writes.write(/*sync=*/true));
  step();
  return {};
}

}  // namespace evershard::storage
