#include "evershard/storage/truth_copy.hpp"

#include <map>
#include <memory>
#include <string>

#include <rocksdb/write_batch.h>

#include "evershard/storage/applied.hpp"
#include "evershard/storage/keys.hpp"
#include "evershard/storage/rocks_families.hpp"
#include "evershard/storage/rocks_status.hpp"
#include "evershard/storage/snapshot_row.hpp"
#include "evershard/storage/truth_walk.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t batch_bytes = 4u << 20;

/// Rows in large batches, without a log: the database counts once all of it is flushed.
class RowsIn {
 public:
  explicit RowsIn(const RocksFamilies& families) : families_(families) {}

  void put(Family family, std::string_view key, std::string_view value) {
    take(batch_.Put(families_.handle(family), rocksdb::Slice(key.data(), key.size()), rocksdb::Slice(value.data(), value.size())));
    if (batch_.GetDataSize() >= batch_bytes) write();
  }
  Result<void> finish() {
    write();
    rocksdb::FlushOptions options;
    std::vector<rocksdb::ColumnFamilyHandle*> handles{families_.handle(Family::journal), families_.handle(Family::order), families_.handle(Family::state)};
    if (status_.ok()) take(families_.db().Flush(options, handles));
    return checked(status_, "cannot write the new database");
  }

 private:
  void write() {
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    if (status_.ok()) take(families_.db().Write(options, &batch_));
    batch_.Clear();
  }
  void take(rocksdb::Status status) {
    if (status_.ok() && !status.ok()) status_ = std::move(status);
  }
  const RocksFamilies& families_;
  rocksdb::WriteBatch batch_;
  rocksdb::Status status_;
};

class Copying final : public TruthVisitor {
 public:
  explicit Copying(RowsIn& to) : to_(to) {}
  void cut(const sharding::Cut& cut) override {
    to_.put(Family::order, keys::order(cut.first_position), sharding::encode(cut));
    applied_.number = cut.number;
    applied_.watermark = cut.last_position();
    applied_.coordinator = cut.coordinator;
    for (const auto& segment : cut.segments) epochs_[segment.shard] = segment.epoch;
    for (const auto& opening : cut.openings) epochs_[opening.shard] = opening.epoch;
  }
  void record(ShardId shard, ShardOffset first, std::string_view bytes) override { to_.put(Family::journal, keys::journal(shard, first), bytes); }
  void event(GlobalPosition, const EventLocation&, const EventView&) override {}

  Applied applied() {
    for (const auto& [shard, epoch] : epochs_)
      if (epoch != Epoch{1}) applied_.epochs.emplace_back(shard, epoch);
    return applied_;
  }

 private:
  RowsIn& to_;
  Applied applied_;
  std::map<ShardId, Epoch> epochs_;
};

/// Of the state's rows: those that are of use still.
bool is_kept(std::string_view key, std::string_view value, GlobalPosition keeps) {
  auto decoded = keys::decode_state(key);
  if (!decoded) return false;
  switch (decoded->kind) {
    case keys::StateKey::Kind::identity:
    case keys::StateKey::Kind::applied: return false;  // made anew
    case keys::StateKey::Kind::checkpoint: return true;
    case keys::StateKey::Kind::snapshot: break;
  }
  auto snapshot = decode_snapshot(value, decoded->aggregate);
  return snapshot && snapshot->position <= keeps;
}

void copy_state(const Rows& from, GlobalPosition keeps, RowsIn& to) {
  auto rows = from.cursor(Family::state, {.prefix = {}, .scan = true});
  std::string last;
  rows->seek({});
  for (int skipped = 0;;) {
    for (; rows->valid(); rows->next()) {
      last = rows->key();
      if (is_kept(last, rows->value(), keeps)) to.put(Family::state, last, rows->value());
    }
    if (rows->status() || skipped == 255) return;
    // A damaged block: on from the next beginning that there may be.
    if (last.empty()) last.push_back('\0');
    last.resize(std::min<std::size_t>(last.size(), 2));
    while (!last.empty() && static_cast<unsigned char>(last.back()) == 0xff) last.pop_back();
    if (last.empty()) return;
    ++last.back();
    ++skipped;
    rows->seek(last);
  }
}

}  // namespace

Result<void> copy_truth(const Rows& from, const Identity& identity, GlobalPosition keeps, const StoreOptions& options,
                        const std::filesystem::path& folder, const Progress& progress) {
  auto creating = options;
  creating.create = true;
  creating.read_only = false;
  std::unique_ptr<RocksFamilies> families;
  EVERSHARD_TRY(checked(RocksFamilies::open(RocksOptions(creating), folder.string(), false, families), "cannot create " + folder.string()));
  RowsIn to(*families);
  Copying copying(to);
  if (keeps > GlobalPosition{0}) EVERSHARD_TRY(TruthWalk(from, identity.shards, copying).run(GlobalPosition{1}, keeps + 1, progress));
  copy_state(from, keeps, to);
  auto fork = identity;
  fork.fork = EventId::random();
  to.put(Family::state, keys::identity(), encode(fork));
  if (keeps > GlobalPosition{0}) to.put(Family::state, keys::applied(), encode(copying.applied()));
  return to.finish();
}

}  // namespace evershard::storage
