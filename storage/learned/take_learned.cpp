#include "evershard/storage/learned/take_learned.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <rocksdb/sst_file_writer.h>
#include <rocksdb/write_batch.h>

#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/learned/learned_files.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/order/refused_rows.hpp"
#include "evershard/storage/refusals.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

constexpr const char* not_taken = "cannot take in what was learned";
constexpr const char* state_name = "state.sst";

Result<LearnedOrder> read_order(const std::filesystem::path& folder, std::string& bytes) {
  std::ifstream file(folder / learned_files::whole_name, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  if (!file) return refuse(ErrorCode::io, "cannot read " + (folder / learned_files::whole_name).string());
  return learned_files::decode(bytes);
}

/// It is there once all is taken, with what it was.
std::string taken_key() { return keys::checkpoint("$learned"); }

Result<bool> is_taken(const Rows& rows, const std::string& whole) {
  const auto key = taken_key();
  const std::string_view wanted[] = {key};
  const auto row = rows.get(Family::state, wanted);
  if (!row) return refuse(row.error());
  return (*row)->found(0) && (*row)->value(0) == whole;
}

void erase_prefix(rocksdb::WriteBatch& batch, RocksFamilies& families, const std::string& prefix) {
  auto end = prefix;
  ++end.back();  // no prefix here ends with the last byte there is
  batch.DeleteRange(families.handle(Family::state), prefix, end);
}

/// Rows of aggregates of shards that are not kept as they are: snapshots, what was removed of them, where the row log
/// has them. Their shards' writers have them, if anybody has; else they would outlive their events here.
Result<void> clear_aggregates(rocksdb::WriteBatch& batch, RocksFamilies& families, const Rows& rows,
                              const Identity& identity, const std::function<bool(ShardId)>& stays) {
  const auto clear = [&](const std::string& prefix, const auto& aggregate_of) -> Result<void> {
    const auto cursor = rows.cursor(Family::state, {.prefix = prefix, .scan = true});
    for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
      const std::optional<AggregateId> aggregate = aggregate_of(cursor->key());
      if (!aggregate || stays(sharding::shard_of(sharding::stream_hash(*aggregate), identity.shards))) continue;
      batch.Delete(families.handle(Family::state), rocksdb::Slice(cursor->key().data(), cursor->key().size()));
    }
    return cursor->status();
  };
  EVERSHARD_TRY(clear(std::string(1, static_cast<char>(keys::StateKey::Kind::snapshot)), [](std::string_view key) {
    auto decoded = keys::decode_state(key);
    return decoded ? std::optional(std::move(decoded->aggregate)) : std::nullopt;
  }));
  for (const auto named : {removed_prefix, row_log_of_prefix, snapshot_base_prefix}) {
    const auto prefix = keys::checkpoint(named);
    EVERSHARD_TRY(clear(prefix, [&](std::string_view key) {
      auto aggregate = AggregateId::parse(key.substr(prefix.size()));
      return aggregate ? std::optional(*std::move(aggregate)) : std::nullopt;
    }));
  }
  return {};
}

/// What is not to be there any more, or comes anew.
Result<void> clear(RocksFamilies& families, const Rows& rows, const Identity& identity, const LearnedOrder& order) {
  std::map<ShardId, bool> kept;
  for (const auto& shard : order.shards) kept[shard.shard] = shard.learned;
  const auto covered = covered_rows(rows, identity.shards);
  if (!covered) return refuse(covered.error());
  rocksdb::WriteBatch batch;
  EVERSHARD_TRY(clear_aggregates(batch, families, rows, identity, [&](ShardId shard) {
    const auto of = kept.find(shard);
    return of != kept.end() && !of->second;
  }));
  batch.DeleteRange(families.handle(Family::order), keys::order(GlobalPosition{0}),
                    keys::order(GlobalPosition{std::numeric_limits<std::uint64_t>::max()}));
  erase_prefix(batch, families, refused_prefix());
  for (std::uint32_t s = 0; s != identity.shards; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (const auto of = kept.find(shard); of != kept.end() && !of->second) continue;
    batch.Delete(families.handle(Family::state), keys::covered(shard));
    // What was here and is kept no longer is to be learned before it is kept again: it is not one of the beginning.
    if (!kept.contains(shard) && covered->contains(shard))
      batch.Put(families.handle(Family::state), keys::covered(shard), encode_covered(Covered{.damaged = true}));
    const ShardId next{static_cast<std::uint16_t>(s + 1)};
    batch.DeleteRange(families.handle(Family::journal), keys::journal(shard, ShardOffset{0}),
                      keys::journal(next, ShardOffset{0}));
    batch.DeleteRange(families.handle(Family::state), keys::waiting(shard, ShardOffset{0}),
                      keys::waiting(next, ShardOffset{0}));
    erase_prefix(batch, families, row_log_prefix_of(shard));
    batch.Delete(families.handle(Family::state), row_log_whole_key(shard));
  }
  rocksdb::WriteOptions options;
  options.sync = true;
  EVERSHARD_TRY(checked(families.db().Write(options, &batch), not_taken));
  // What was deleted lies in files before anything comes anew. Taking files in does the same where they overlap with
  // what is in memory, and only there.
  return checked(
      families.db().Flush(rocksdb::FlushOptions(), {families.handle(Family::journal), families.handle(Family::order),
                                                    families.handle(Family::state)}),
      not_taken);
}

/// Under which epochs the shards were written last, as the order that was here has it.
Result<std::map<ShardId, Epoch>> epochs_before(const Rows& rows) {
  const auto key = keys::applied();
  const std::string_view wanted[] = {key};
  const auto row = rows.get(Family::state, wanted);
  if (!row) return refuse(row.error());
  std::map<ShardId, Epoch> epochs;
  if (!(*row)->found(0)) return epochs;
  const auto applied = decode_applied((*row)->value(0));
  if (!applied) return refuse(applied.error());
  for (const auto& [shard, epoch] : applied->epochs) epochs[shard] = epoch;
  return epochs;
}

/// `before`: of the order that was here. What that covered and this one does not, cuts have decided all the same.
std::map<std::string, std::string> state_rows(const LearnedOrder& order, const std::map<ShardId, Covered>& before,
                                              const std::map<ShardId, Epoch>& epochs, const std::string& whole) {
  std::map<std::string, std::string> rows;
  Applied applied{order.last_cut, order.watermark, order.coordinator, {}};
  for (const auto& shard : order.shards) {
    if (shard.epoch.value > 1) applied.epochs.emplace_back(shard.shard, shard.epoch);
    Covered covered;
    if (const auto here = before.find(shard.shard); !shard.learned && here != before.end()) {
      covered = here->second;
      covered.settled = std::max(covered.settled, covered.end);
      // It may have written it itself, under an epoch that these cuts do not open yet.
      const auto epoch = epochs.find(shard.shard);
      covered.followed = std::max(covered.followed, epoch == epochs.end() ? Epoch{1} : epoch->second);
    } else {
      covered.followed = shard.followed;
      covered.settled = shard.settled;
    }
    covered.end = shard.end;
    rows[keys::covered(shard.shard)] = encode_covered(covered);
  }
  rows[keys::applied()] = encode(applied);
  if (!order.refused.empty())
    rows[refused_key(order.last_cut)] =
        refused_row({order.last_cut, order.coordinator, order.watermark + 1, order.refused, {}});
  rows[taken_key()] = whole;
  return rows;
}

Result<void> write_state(const RocksOptions& options, const std::filesystem::path& path,
                         const std::map<std::string, std::string>& rows) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), rocksdb::Options(options.db(), options.family(Family::state)));
  EVERSHARD_TRY(checked(writer.Open(path.string()), not_taken));
  for (const auto& [key, value] : rows) EVERSHARD_TRY(checked(writer.Put(key, value), not_taken));
  return checked(writer.Finish(), not_taken);
}

/// All of it, or nothing.
Result<void> ingest(RocksFamilies& families, const std::filesystem::path& folder, const LearnedOrder& order) {
  std::set<ShardId> learned;
  for (const auto& shard : order.shards)
    if (shard.learned) learned.insert(shard.shard);
  std::map<Family, std::vector<std::string>> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto name = entry.path().filename().string();
    if (const auto journal = learned_files::journal_named(name); journal && learned.contains(journal->shard))
      files[Family::journal].push_back(entry.path().string());
  }
  if (error) return refuse(ErrorCode::io, "cannot look into " + folder.string() + ": " + error.message());
  for (std::size_t n = 1; std::filesystem::exists(folder / learned_files::order_name(n), error); ++n)
    files[Family::order].push_back((folder / learned_files::order_name(n)).string());
  files[Family::state].push_back((folder / state_name).string());
  std::vector<rocksdb::IngestExternalFileArg> arguments;
  for (auto& [family, paths] : files) {
    auto& argument = arguments.emplace_back();
    argument.column_family = families.handle(family);
    argument.external_files = std::move(paths);
    argument.options.move_files = true;
    argument.options.failed_move_fall_back_to_copy = true;
    argument.options.write_global_seqno = false;
  }
  return checked(families.db().IngestExternalFiles(arguments), not_taken);
}

}  // namespace

Result<void> take_learned(RocksFamilies& families, const RocksOptions& options, const Rows& rows,
                          const Identity& identity, const std::filesystem::path& data_dir,
                          const std::filesystem::path& mark_path, const std::function<void()>& step) {
  const auto folder = learned_files::folder(data_dir);
  std::string whole;
  const auto order = read_order(folder, whole);
  if (!order) return refuse(order.error());
  for (const auto& shard : order->shards)
    if (shard.shard.value >= identity.shards)
      return corrupt("what was learned is of shard " + std::to_string(shard.shard.value) + " of " +
                     std::to_string(identity.shards));
  const auto taken = is_taken(rows, whole);
  if (!taken) return refuse(taken.error());
  if (!*taken) {
    // The mark goes first: once the order is another one, nobody knows that the indexes are of the one before.
    EVERSHARD_TRY(families.clear_mark(options));
    step();
    EVERSHARD_TRY(clear(families, rows, identity, *order));
    step();
    const auto before = covered_rows(rows, identity.shards);
    if (!before) return refuse(before.error());
    const auto epochs = epochs_before(rows);
    if (!epochs) return refuse(epochs.error());
    EVERSHARD_TRY(write_state(options, folder / state_name, state_rows(*order, *before, *epochs, whole)));
    EVERSHARD_TRY(ingest(families, folder, *order));
    step();
  }
  std::error_code error;
  std::filesystem::remove(mark_path, error);  // the order may end earlier than it did
  if (error) return refuse(ErrorCode::io, "cannot remove " + mark_path.string() + ": " + error.message());
  step();
  return LearnedShards::forget(data_dir);
}

}  // namespace evershard::storage
