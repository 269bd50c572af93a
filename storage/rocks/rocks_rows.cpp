#include "evershard/storage/rocks/rocks_rows.hpp"

#include <vector>

#include "evershard/storage/index/memory_only.hpp"
#include "evershard/storage/rocks/rocks_reads.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

/// What the family's filters are made of; 0: of whole keys, or it has none.
std::size_t filtered_prefix_bytes(Family family) {
  if (family == Family::ids) return 16;
  return family == Family::streams || family == Family::postings ? 8 : 0;
}

std::string_view view_of(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice slice_of(std::string_view view) { return {view.data(), view.size()}; }

rocksdb::ReadTier tier() { return MemoryOnly::current() == nullptr ? rocksdb::kReadAllTier : rocksdb::kBlockCacheTier; }

/// Errors: unavailable: a read that takes what memory has would have had to wait for the disk
Result<void> checked_read(const rocksdb::Status& status) {
  auto* const memory_only = MemoryOnly::current();
  if (memory_only == nullptr || !status.IsIncomplete()) return checked(status, "cannot read rows");
  memory_only->miss();
  return refuse(ErrorCode::unavailable, "what is to be read is not in memory");
}

class RocksCursor final : public RowCursor {
 public:
  RocksCursor(std::shared_ptr<const RocksFamilies> families, Family family, const CursorOptions& options,
              const rocksdb::Snapshot* snapshot)
      : families_(std::move(families)), upper_(successor(options.prefix)) {
    rocksdb::ReadOptions read;
    read.snapshot = snapshot;
    const auto filtered_by = filtered_prefix_bytes(family);
    const bool filtered = filtered_by != 0 && (options.many_prefixes || options.prefix.size() >= filtered_by);
    read.prefix_same_as_start = filtered;
    read.total_order_seek = !filtered;
    if (!upper_.empty()) {
      upper_slice_ = slice_of(upper_);
      read.iterate_upper_bound = &upper_slice_;
    }
    // RocksDB reads ahead by itself, ever more while blocks follow each other: a fixed megabyte cost three quarters of
    // an opening, which seeks to every shard's end in every file.
    if (options.scan) read.fill_cache = false;
    read.read_tier = tier();
    rows_.reset(families_->db().NewIterator(read, families_->handle(family)));
  }

  void seek(std::string_view key) override {
    RocksReading reading;
    rows_->Seek(slice_of(key));
    row_.moved();
  }
  void seek_for_prev(std::string_view key) override {
    RocksReading reading;
    rows_->SeekForPrev(slice_of(key));
    row_.moved();
  }
  void next() override {
    RocksReading reading;
    rows_->Next();
    row_.moved();
  }
  void prev() override {
    RocksReading reading;
    rows_->Prev();
    row_.moved();
  }
  [[nodiscard]] bool valid() const override { return rows_->Valid(); }
  [[nodiscard]] std::string_view key() const override { return row_.key(*rows_); }
  [[nodiscard]] std::string_view value() const override { return row_.value(*rows_); }
  [[nodiscard]] Result<void> status() const override { return checked_read(rows_->status()); }

 private:
  /// The first key behind all that begin with `prefix`; empty: there is none.
  static std::string successor(std::string_view prefix) {
    std::string key(prefix);
    while (!key.empty() && static_cast<unsigned char>(key.back()) == 0xff) key.pop_back();
    if (!key.empty()) ++key.back();
    return key;
  }

  std::shared_ptr<const RocksFamilies> families_;  // goes last
  std::string upper_;
  rocksdb::Slice upper_slice_;
  std::unique_ptr<rocksdb::Iterator> rows_;
  mutable RocksRow row_;
};

/// What a closed store has.
class NoCursor final : public RowCursor {
 public:
  void seek(std::string_view) override {}
  void seek_for_prev(std::string_view) override {}
  void next() override {}
  void prev() override {}
  [[nodiscard]] bool valid() const override { return false; }
  [[nodiscard]] std::string_view key() const override { return {}; }
  [[nodiscard]] std::string_view value() const override { return {}; }
  [[nodiscard]] Result<void> status() const override { return refuse(ErrorCode::unavailable, "the store is closed"); }
};

class RocksBatch final : public RowBatch {
 public:
  RocksBatch(std::shared_ptr<const RocksFamilies> families, std::size_t count)
      : values(count), statuses(count), families_(std::move(families)) {}
  ~RocksBatch() override { values.clear(); }  // unpinned before the database may go
  [[nodiscard]] bool found(std::size_t i) const override { return statuses[i].ok(); }
  [[nodiscard]] std::string_view value(std::size_t i) const override { return view_of(values[i]); }

  std::vector<rocksdb::PinnableSlice> values;
  std::vector<rocksdb::Status> statuses;

 private:
  std::shared_ptr<const RocksFamilies> families_;
};

}  // namespace

std::unique_ptr<RocksRows> RocksRows::frozen(std::shared_ptr<const RocksFamilies> families) {
  auto rows = std::make_unique<RocksRows>(families);
  const auto* snapshot = families->db().GetSnapshot();
  rows->snapshot_ = Snapshot(
      snapshot, [families = std::move(families)](const rocksdb::Snapshot* of) { families->db().ReleaseSnapshot(of); });
  return rows;
}

std::shared_ptr<const RocksFamilies> RocksRows::families() const {
  std::lock_guard lock(mutex_);
  return families_;
}

void RocksRows::close() {
  std::shared_ptr<const RocksFamilies> last;  // may be the last reference: closes outside the lock
  std::lock_guard lock(mutex_);
  last = std::move(families_);
}

std::unique_ptr<RowCursor> RocksRows::cursor(Family family, CursorOptions options) const {
  auto open = families();
  if (!open) return std::make_unique<NoCursor>();
  return std::make_unique<RocksCursor>(std::move(open), family, options, snapshot_.get());
}

Result<std::unique_ptr<RowBatch>> RocksRows::get(Family family, std::span<const std::string_view> keys,
                                                 bool keep) const {
  auto open = families();
  if (!open) return refuse(ErrorCode::unavailable, "the store is closed");
  auto& db = open->db();
  auto* handle = open->handle(family);
  auto batch = std::make_unique<RocksBatch>(std::move(open), keys.size());
  rocksdb::ReadOptions read;
  read.snapshot = snapshot_.get();
  read.fill_cache = keep;
  read.read_tier = tier();
  if (keys.size() == 1) {
    RocksReading reading;
    batch->statuses[0] = db.Get(read, handle, slice_of(keys[0]), batch->values.data());
  } else if (!keys.empty()) {
    std::vector<rocksdb::Slice> slices;
    slices.reserve(keys.size());
    for (auto key : keys) slices.push_back(slice_of(key));
    const auto get = [&](std::size_t from, std::size_t until) {
      RocksReading reading;
      db.MultiGet(read, handle, until - from, &slices[from], &batch->values[from], &batch->statuses[from],
                  /*sorted_input=*/true);
    };
    if (MemoryOnly::current() != nullptr)
      get(0, keys.size());
    else
      reads_.read(keys.size(), get);
  }
  for (auto& value : batch->values) unpin(value);
  for (const auto& status : batch->statuses)
    if (!status.ok() && !status.IsNotFound()) EVERSHARD_TRY(checked_read(status));
  return batch;
}

}  // namespace evershard::storage
