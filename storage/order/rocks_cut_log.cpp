#include "evershard/storage/order/rocks_cut_log.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "evershard/protocol/limits.hpp"
#include "evershard/sharding/cut_log_rules.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/directory_kind.hpp"
#include "evershard/storage/journal/new_identity.hpp"
#include "evershard/storage/order/cut_log_rows.hpp"
#include "evershard/storage/refusals.hpp"
#include "evershard/storage/rocks/database_lock.hpp"
#include "evershard/storage/rocks/open_folder.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"
#include "evershard/storage/store_owner.hpp"

namespace evershard::storage {
namespace {

namespace log_rows = cut_log_rows;
using sharding::Cut;
using sharding::CutLogRules;
using sharding::CutLogState;
using sharding::CutsFound;
using sharding::HeldBy;

constexpr std::size_t log_memtable_bytes = 4u << 20;
constexpr std::size_t log_manifest_bytes_max = 8u << 20;
constexpr std::uintmax_t room_to_open =
    8u << 20;  ///< a RocksDB with its assertions aborts where it cannot write a file's first bytes

std::string_view slice_bytes(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

rocksdb::Options cut_log_options(const CutLogOptions& options) {
  rocksdb::Options rocks;
  if (options.env) rocks.env = options.env;
  rocks.create_if_missing = options.create && !options.read_only;
  rocks.paranoid_checks = true;
  // Every write was synced: only the last one, unanswered, may be cut short. Anything else is damage and refused.
  rocks.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  rocks.track_and_verify_wals_in_manifest = true;
  rocks.write_buffer_size = log_memtable_bytes;
  rocks.max_background_jobs = 2;
  rocks.max_open_files = 64;
  rocks.stats_dump_period_sec = 0;
  rocks.keep_log_file_num = 2;
  rocks.max_manifest_file_size = log_manifest_bytes_max;
  if (options.read_only) rocks.info_log = no_log();
  return rocks;
}

bool is_held_by_another(const rocksdb::Status& status) {
  const auto text = status.ToString();
  return status.IsIOError() && (text.find("lock hold by current process") != std::string::npos ||
                                text.find("While lock file") != std::string::npos);
}

class RocksCutLog final : public DurableCutLog {
 public:
  explicit RocksCutLog(CutLogOptions options) : options_(std::move(options)) {}

  Result<void> open();

  [[nodiscard]] const Identity& identity() const override { return identity_; }
  [[nodiscard]] const CutLogState& state() const override { return rules_->state(); }
  Result<CutLogState> lead() override;
  Result<void> put(const Cut& cut) override;
  [[nodiscard]] Result<CutsFound> cuts_after(CutNumber after, std::size_t bytes_max) const override;
  Result<void> fold(Epoch epoch, std::span<const HeldBy> held) override;
  Result<void> check_blocks() const;

 private:
  Result<void> look_at_folder();
  Result<void> open_database();
  Result<void> identify();
  Result<void> read_back();
  Result<void> create();
  [[nodiscard]] Result<std::optional<std::string>> read(const std::string& key) const;
  Result<void> write(rocksdb::WriteBatch& batch, std::string_view doing);

  const CutLogOptions options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::optional<OpenFolder> folder_;
  std::unique_ptr<StoreOwner> owner_;
  Identity identity_;
  std::optional<CutLogRules> rules_;
  std::optional<Error> failure_;
};

Result<void> RocksCutLog::open() {
  if (options_.data_dir.empty()) return invalid("a cut log needs a data directory");
  if (options_.shards > shards_max)
    return invalid("a cluster has at most " + std::to_string(shards_max) + " shards, not " +
                   std::to_string(options_.shards));
  EVERSHARD_TRY(look_at_folder());
  EVERSHARD_TRY(open_database());
  EVERSHARD_TRY(identify());
  return read_back();
}

Result<void> RocksCutLog::look_at_folder() {
  std::error_code error;
  const auto database = options_.data_dir / "db";
  const auto there = may_be_opened(options_.data_dir, DirectoryKind::cut_log, options_.create && !options_.read_only);
  if (!there) return refuse(there.error());
  if (std::filesystem::exists(database / "CURRENT", error)) return {};
  for (std::filesystem::directory_iterator at(database, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".sst")
      return corrupt("CURRENT is missing from " + database.string() + ", which holds a cut log");
  }
  std::filesystem::create_directories(database, error);
  if (error) return refuse(ErrorCode::io, "cannot create " + database.string() + ": " + error.message());
  return {};
}

Result<void> RocksCutLog::open_database() {
  const auto database = (options_.data_dir / "db").string();
  std::error_code unknown;
  if (const auto room = std::filesystem::space(database, unknown).available;
      !options_.read_only && !unknown && room < room_to_open)
    return refuse(ErrorCode::unavailable, "the disk of " + options_.data_dir.string() + " has " + std::to_string(room) +
                                              " bytes left: to open the cut log takes " + std::to_string(room_to_open));
  rocksdb::DB* opened = nullptr;
  const auto status = options_.read_only ? rocksdb::DB::OpenForReadOnly(cut_log_options(options_), database, &opened)
                                         : rocksdb::DB::Open(cut_log_options(options_), database, &opened);
  if (is_held_by_another(status))
    return refuse(ErrorCode::unavailable, options_.data_dir.string() +
                                              " is open already: " + StoreOwner::named_in(options_.data_dir / "OWNER"));
  if (status.IsInvalidArgument())
    return invalid(options_.data_dir.string() + " holds no cut log: " + status.ToString());
  if (status.IsPathNotFound() || status.IsNotFound() ||
      (status.IsIOError() && status.ToString().find("No such file") != std::string::npos))
    return corrupt("cannot open the cut log in " + database + ": " + status.ToString());
  if (!status.ok()) return refuse(error_of(status, "cannot open the cut log in " + database));
  db_.reset(opened);
  if (options_.read_only) return {};
  folder_.emplace(database);
  auto owner = StoreOwner::write(options_.data_dir / "OWNER");
  if (!owner) return refuse(std::move(owner).error());
  owner_ = std::move(*owner);
  return {};
}

Result<std::optional<std::string>> RocksCutLog::read(const std::string& key) const {
  std::string value;
  const auto status = db_->Get({}, key, &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return refuse(error_of(status, "cannot read the cut log"));
  return value;
}

Result<void> RocksCutLog::identify() {
  const auto row = read(log_rows::identity_key());
  if (!row) return refuse(row.error());
  if (!*row && options_.read_only)
    return corrupt("the identity of the cut log in " + options_.data_dir.string() + " is missing");
  if (*row && options_.begins_with) return invalid("there is a cut log in " + options_.data_dir.string() + " already");
  if (*row) {
    auto identity = decode_identity(**row);
    if (!identity) return refuse(std::move(identity).error());
    identity_ = *identity;
  } else {
    std::unique_ptr<rocksdb::Iterator> any(db_->NewIterator({}));
    any->SeekToFirst();
    if (any->Valid()) return corrupt("the identity of the cut log in " + options_.data_dir.string() + " is missing");
    EVERSHARD_TRY(checked(any->status(), "cannot read the cut log"));
    EVERSHARD_TRY(create());
  }
  if (options_.shards != 0 && options_.shards != identity_.shards)
    return invalid("the cut log in " + options_.data_dir.string() + " is of " + std::to_string(identity_.shards) +
                   " shards, not " + std::to_string(options_.shards));
  if (identity_.hash != sharding::hash_id)
    return invalid("the cut log in " + options_.data_dir.string() + " was made with shard hash " +
                   std::to_string(identity_.hash) + ", this program has " + std::to_string(sharding::hash_id));
  return {};
}

Result<void> RocksCutLog::create() {
  const auto& begins_with = options_.begins_with;
  identity_ = begins_with ? begins_with->identity : new_identity(options_.shards, std::nullopt);
  rocksdb::WriteBatch batch;
  batch.Put(log_rows::identity_key(), encode(identity_));
  batch.Put(log_rows::epoch_key(), log_rows::epoch_row(begins_with ? begins_with->state.epoch : Epoch{0}));
  batch.Put(log_rows::checkpoint_key(),
            log_rows::checkpoint_row(begins_with ? begins_with->state : CutLogState(identity_.shards)));
  return write(batch, "cannot make the cut log");
}

Result<void> RocksCutLog::read_back() {
  const auto epoch_row = read(log_rows::epoch_key());
  const auto leaderships_row = read(log_rows::leaderships_key());
  const auto checkpoint_row = read(log_rows::checkpoint_key());
  if (!epoch_row) return refuse(epoch_row.error());
  if (!leaderships_row) return refuse(leaderships_row.error());
  if (!checkpoint_row) return refuse(checkpoint_row.error());
  if (!*epoch_row) return corrupt("the cut log's epoch is missing");
  if (!*checkpoint_row) return corrupt("the cut log's checkpoint is missing");
  const auto epoch = log_rows::decode_epoch_row(**epoch_row);
  if (!epoch) return refuse(epoch.error());
  sharding::Leaderships leaderships;  // none: of a release that kept none
  if (*leaderships_row) {
    auto decoded = log_rows::decode_leaderships_row(**leaderships_row);
    if (!decoded) return refuse(std::move(decoded).error());
    leaderships = std::move(*decoded);
  }
  if (!leaderships.empty() && leaderships.back().epoch > *epoch)
    return corrupt("the cut log's epoch is " + std::to_string(epoch->value) + ", and epoch " +
                   std::to_string(leaderships.back().epoch.value) + " was led");
  auto checkpoint = log_rows::decode_checkpoint_row(**checkpoint_row, identity_.shards);
  if (!checkpoint) return refuse(checkpoint.error());
  rules_.emplace(std::move(*checkpoint));

  std::unique_ptr<rocksdb::Iterator> row(db_->NewIterator({}));
  for (row->Seek(log_rows::cut_prefix()); row->Valid(); row->Next()) {
    const auto number = log_rows::decode_cut_key(slice_bytes(row->key()));
    if (!number) return refuse(number.error());
    const auto cut = log_rows::decode_cut_row(*number, slice_bytes(row->value()));
    if (!cut) return refuse(cut.error());
    if (*number <= rules_->checkpoint().last_cut) {
      EVERSHARD_TRY(rules_->kept(*cut));
    } else {
      EVERSHARD_TRY(sharding::check_follows(rules_->state(), *cut));
      rules_->taken(*cut);
    }
  }
  EVERSHARD_TRY(checked(row->status(), "cannot read the cut log"));
  rules_->read_back();
  rules_->led(*epoch, std::move(leaderships));
  return {};
}

Result<void> RocksCutLog::write(rocksdb::WriteBatch& batch, std::string_view doing) {
  if (failure_) return refuse(*failure_);
  rocksdb::WriteOptions options;
  options.sync = true;
  const auto status = db_->Write(options, &batch);
  const bool gone = folder_->gone();
  if (status.ok() && !gone) return {};
  // What was written may be there or not: only opening it again can say.
  const auto what = "the cut log has failed: " + std::string(doing);
  failure_ = Error(ErrorCode::io, gone ? what + ": " + folder_->why() : error_of(status, what).what);
  return refuse(*failure_);
}

Result<CutLogState> RocksCutLog::lead() {
  const sharding::Leadership newest{rules_->next_epoch(), EventId::random()};
  auto leaderships = state().leaderships;
  sharding::add_leadership(leaderships, newest);
  rocksdb::WriteBatch batch;
  batch.Put(log_rows::epoch_key(), log_rows::epoch_row(newest.epoch));
  batch.Put(log_rows::leaderships_key(), log_rows::leaderships_row(leaderships));
  EVERSHARD_TRY(write(batch, "cannot write its epoch"));
  rules_->leads(newest);
  return state();
}

Result<void> RocksCutLog::put(const Cut& cut) {
  if (failure_) return refuse(*failure_);
  EVERSHARD_TRY(rules_->check_put(cut));
  rocksdb::WriteBatch batch;
  batch.Put(log_rows::cut_key(cut.number), log_rows::cut_row(cut));
  EVERSHARD_TRY(write(batch, "cannot write cut " + std::to_string(cut.number.value)));
  rules_->taken(cut);
  return {};
}

Result<CutsFound> RocksCutLog::cuts_after(CutNumber after, std::size_t bytes_max) const {
  CutsFound found;
  std::size_t bytes = 0;
  std::unique_ptr<rocksdb::Iterator> row(db_->NewIterator({}));
  for (row->Seek(log_rows::cut_key(after + 1)); row->Valid(); row->Next()) {
    const auto number = log_rows::decode_cut_key(slice_bytes(row->key()));
    if (!number) return refuse(number.error());
    if (*number > state().last_cut) break;  // written, and not known to be synced
    if (!found.cuts.empty() && bytes + row->value().size() > bytes_max) {
      found.more = true;
      break;
    }
    auto cut = log_rows::decode_cut_row(*number, slice_bytes(row->value()));
    if (!cut) return refuse(std::move(cut).error());
    bytes += row->value().size();
    found.cuts.push_back(std::move(*cut));
  }
  EVERSHARD_TRY(checked(row->status(), "cannot read the cut log"));
  const CutLogState& checkpoint = rules_->checkpoint();
  if (after < checkpoint.last_cut) found.folded = checkpoint;
  return found;
}

Result<void> RocksCutLog::fold(Epoch epoch, std::span<const HeldBy> held) {
  const auto folding = rules_->fold(epoch, held);
  if (!folding) return refuse(folding.error());
  rocksdb::WriteBatch batch;
  batch.Put(log_rows::checkpoint_key(), log_rows::checkpoint_row(folding->checkpoint));
  for (const CutNumber number : folding->given_up) batch.Delete(log_rows::cut_key(number));
  EVERSHARD_TRY(write(batch, "cannot fold it"));
  rules_->folded(*folding);
  return {};
}

Result<void> RocksCutLog::check_blocks() const {
  const auto status = db_->VerifyChecksum();
  if (status.ok()) return {};
  return refuse(status.IsCorruption() ? ErrorCode::corruption : ErrorCode::io,
                "the files of the cut log in " + options_.data_dir.string() + ": " + status.ToString());
}

}  // namespace

Result<CutLogCheck> check_cut_log(const std::filesystem::path& data_dir, const Progress& progress) {
  constexpr std::size_t page_bytes = 4u << 20;
  const auto lock = DatabaseLock::take(data_dir);
  if (!lock) return refuse(lock.error());
  CutLogOptions options;
  options.data_dir = data_dir;
  options.create = false;
  options.read_only = true;
  RocksCutLog log(options);
  EVERSHARD_TRY(log.open());
  EVERSHARD_TRY(report(progress, 50, 100));
  EVERSHARD_TRY(log.check_blocks());
  CutLogCheck checked{log.identity(), log.state()};
  for (auto after = CutNumber{0};;) {
    const auto page = log.cuts_after(after, page_bytes);
    if (!page) return refuse(page.error());
    checked.cuts += page->cuts.size();
    if (page->cuts.empty() || !page->more) break;
    after = page->cuts.back().number;
  }
  EVERSHARD_TRY(report(progress, 100, 100));
  return checked;
}

Result<std::unique_ptr<DurableCutLog>> open_cut_log(const CutLogOptions& options) {
  auto log = std::make_unique<RocksCutLog>(options);
  EVERSHARD_TRY(log->open());
  return log;
}

}  // namespace evershard::storage
