#include "evershard/storage/repair/truth_copy.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "evershard/protocol/hex.hpp"
#include "evershard/sharding/cut_back.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/repair/kept_state.hpp"
#include "evershard/storage/repair/new_rows.hpp"
#include "evershard/storage/repair/truth_walk.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t state_rows_between_reports = 4'096;

class Copying final : public TruthVisitor {
 public:
  Copying(const TruthCopyOptions& how, TruthSink& to, KeptState::LeftOf& left) : how_(how), to_(to), left_(left) {}

  void cut(const sharding::Cut& cut) override {
    if (cut.last_position() <= how_.keeps) return to_.cut(cut);
    auto kept = sharding::cut_back(cut, how_.keeps);
    for (const auto& segment : cut.segments) ends_.try_emplace(segment.shard, segment.first);
    for (const auto& segment : kept.segments) ends_[segment.shard] = segment.end;
    to_.cut(kept);
  }
  void record(ShardId shard, ShardOffset first, std::string_view bytes) override {
    auto end = ends_.find(shard);
    if (end == ends_.end()) return to_.record(shard, first, bytes);
    if (first >= end->second) return;
    auto record = RecordView::open(bytes, shard, first);
    if (!record) return;  // its events are reported missing
    if (first + record->size() <= end->second) return to_.record(shard, first, bytes);
    auto kept = first_events(bytes, shard, first, end->second - first);
    if (kept) to_.record(shard, first, *kept);
  }
  void event(GlobalPosition position, const EventLocation&, const EventView& event) override {
    if (position <= how_.keeps) note_kept(event, left_);
  }
  void missing(GlobalPosition from, std::uint64_t, const std::string& why) override {
    if (from <= how_.keeps) damaged("position " + std::to_string(from.value) + " cannot be read: " + why);
  }
  void missing_cut(GlobalPosition from, std::uint64_t, const std::string& why) override {
    if (from <= how_.keeps)
      damaged("position " + std::to_string(from.value) + " cannot be read: its cut is missing: " + why);
  }
  void contradiction(const std::string& what) override { damaged(what); }

  /// Errors: corruption: the first damage that is not to be left out; io: the copy cannot be written
  [[nodiscard]] Result<void> status() const {
    if (!damage_.empty()) return refuse(ErrorCode::corruption, damage_);
    return to_.written();
  }

 private:
  void damaged(std::string what) {
    if (!how_.leave_out_damage && damage_.empty()) damage_ = std::move(what);
  }

  const TruthCopyOptions how_;
  TruthSink& to_;
  KeptState::LeftOf& left_;
  std::map<ShardId, ShardOffset> ends_;  // of shards in the cut that is cut back: nothing from here on
  std::string damage_;
};

/// All of it in one database.
class OneDatabase final : public TruthSink {
 public:
  explicit OneDatabase(NewRows& to) : to_(to) {}

  void cut(const sharding::Cut& cut) override {
    to_.put(Family::order, keys::order(cut.first_position), sharding::encode(cut));
    applied_.number = cut.number;
    applied_.watermark = cut.last_position();
    applied_.coordinator = cut.coordinator;
    for (const auto& segment : cut.segments) epochs_[segment.shard] = segment.epoch;
    for (const auto& opening : cut.openings) epochs_[opening.shard] = opening.epoch;
  }
  void record(ShardId shard, ShardOffset first, std::string_view bytes) override {
    to_.put(Family::journal, keys::journal(shard, first), bytes);
  }
  void state(std::string_view key, std::string_view value) override { to_.put(Family::state, key, value); }
  [[nodiscard]] Result<void> written() const override { return to_.written(); }

  Applied applied() {
    for (const auto& [shard, epoch] : epochs_)
      if (epoch != Epoch{1}) applied_.epochs.emplace_back(shard, epoch);
    return applied_;
  }

 private:
  NewRows& to_;
  Applied applied_;
  std::map<ShardId, Epoch> epochs_;
};

Result<void> copy_events(const Rows& from, std::uint32_t shards, GlobalPosition keeps, Copying& copying,
                         const Progress& progress) {
  if (keeps == GlobalPosition{0}) return {};
  auto walked =
      TruthWalk(from, shards, copying).run(GlobalPosition{1}, keeps + 1, [&](std::uint64_t done, std::uint64_t total) {
        return copying.status() && (!progress || progress(done, total));
      });
  EVERSHARD_TRY(copying.status());
  return walked;
}

/// What a row says of them may be of events behind the copy's end.
Result<KeptState::LeftOf> left_where_something_was_removed(const Rows& from, const TruthCopyOptions& how) {
  if (how.keeps == how.end) return KeptState::LeftOf{};
  auto left = left_where_removed(from);
  if (!left && how.leave_out_damage) return KeptState::LeftOf{};
  return left;
}

Result<void> copy_state(const Rows& from, const TruthCopyOptions& how, const KeptState::LeftOf& left, TruthSink& to,
                        const Progress& progress) {
  KeptState kept({.keeps = how.keeps,
                  .checkpoints = how.leave_out_damage || how.keeps == how.end,
                  .left = how.keeps == how.end ? nullptr : &left,
                  .without_state = how.without_state},
                 [&](std::string_view key, std::string_view value) { to.state(key, value); });
  auto rows = from.cursor(Family::state, {.prefix = {}, .scan = true});
  std::string last;
  std::uint64_t n = 0;
  rows->seek({});
  for (int skipped = 0;;) {
    for (; rows->valid(); rows->next()) {
      if (n++ % state_rows_between_reports == 0) EVERSHARD_TRY(report(progress, 0, 1));
      EVERSHARD_TRY(to.written());
      last = rows->key();
      const auto row = whole_state_row(from, last, rows->value());
      if (!row && !how.leave_out_damage) return refuse(row.error());
      auto taken = row ? kept.take(last, *row) : Result<void>(refuse(row.error()));
      const auto is_snapshot = [&] {
        const auto key = keys::decode_state(last);
        return key && key->kind == keys::StateKey::Kind::snapshot;
      };
      if (!taken && how.snapshot_left_out && is_snapshot())
        how.snapshot_left_out(last);
      else if (!taken && !how.leave_out_damage)
        return refuse(ErrorCode::corruption, "family state, row " + hex(last, 64) + ": " + taken.error().what);
    }
    auto status = rows->status();
    if (!status && !how.leave_out_damage) return status;
    if (status || skipped == 255) break;
    // A damaged block: on from the next beginning that there may be.
    if (last.empty()) last.push_back('\0');
    last.resize(std::min<std::size_t>(last.size(), 2));
    while (!last.empty() && static_cast<unsigned char>(last.back()) == 0xff) last.pop_back();
    if (last.empty()) break;
    ++last.back();
    ++skipped;
    rows->seek(last);
  }
  kept.finish();
  return {};
}

}  // namespace

Result<void> copy_truth_to(const Rows& from, std::uint32_t shards, const TruthCopyOptions& how, TruthSink& to,
                           const Progress& progress) {
  auto left = left_where_something_was_removed(from, how);
  if (!left) return refuse(std::move(left).error());
  Copying copying(how, to, *left);
  EVERSHARD_TRY(copy_events(from, shards, how.keeps, copying, part_of(progress, 0, 90)));
  return copy_state(from, how, *left, to, part_of(progress, 90, 100));
}

Result<void> copy_truth(const Rows& from, const Identity& identity, const TruthCopyOptions& how,
                        const StoreOptions& options, const std::filesystem::path& folder, const Progress& progress) {
  const auto families = create_database(options, how.compact, folder);
  if (!families) return refuse(families.error());
  NewRows to(**families);
  OneDatabase database(to);
  EVERSHARD_TRY(copy_truth_to(from, identity.shards, how, database, progress));
  auto fork = identity;
  fork.fork = EventId::random();
  to.put(Family::state, keys::identity(), encode(fork));
  if (how.keeps > GlobalPosition{0}) to.put(Family::state, keys::applied(), encode(database.applied()));
  return to.finish();
}

}  // namespace evershard::storage
