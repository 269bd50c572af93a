#include "evershard/storage/rocks/rocks_options.hpp"

#include <algorithm>

#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include "evershard/storage/rocks/block_cache.hpp"
#include "evershard/storage/rocks/zeroed_logs.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t megabyte = 1u << 20;
// One event of a query lies in a block of its own: half the size is a quarter more of them a second, and costs a scan a
// fifth.
constexpr std::size_t block_bytes = 4u << 10;
constexpr std::size_t compact_block_bytes = 256u << 10;
constexpr double filter_bits_a_key = 10;
constexpr std::size_t filter_piece_bytes = 8u << 10;
constexpr std::size_t id_bytes = 16;    // what a key of ids begins with
constexpr std::size_t term_bytes = 8;   // what a key of streams and postings begins with
constexpr std::size_t shard_bytes = 2;  // what a key of the journal begins with

/// Filters in pieces: one of a file's millions of ids is some MB, of which a look needs some KB. Streams and postings
/// have whole ones: they are of terms, of which there are fewer, and pieces cost a query for an absent tag 4 us.
void divide_filter(rocksdb::BlockBasedTableOptions& table) {
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(filter_bits_a_key));
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.metadata_block_size = filter_piece_bytes;
}

}  // namespace

RocksOptions::RocksOptions(const StoreOptions& options)
    : memtable_bytes_(options.memtable_bytes),
      tail_bytes_max_(options.tail_bytes_max),
      cache_(block_cache(options.block_cache_bytes)),
      env_(with_zeroed_logs(options.env, options.log_zeros_max, options.env != nullptr)) {
  db_.env = env_.get();
  db_.create_if_missing = options.create && !options.read_only;
  db_.create_missing_column_families = !options.read_only;
  db_.paranoid_checks = true;
  db_.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  db_.avoid_flush_during_recovery = false;  // what was recovered is in files before it answers anything
  // Journal, order and state are flushed together: whatever is lost with a log, they end at the same commit.
  db_.atomic_flush = true;
  // A log that was closed and is missing is noticed. Not while recovering from just that.
  db_.track_and_verify_wals_in_manifest = !options.accept_loss && !options.read_only;
  db_.max_total_wal_size = options.wal_bytes_max;
  db_.max_background_jobs = 2;
  db_.bytes_per_sync = megabyte;
  db_.max_open_files = 512;
  db_.stats_dump_period_sec = 0;
  db_.keep_log_file_num = 4;
  db_.max_log_file_size = 4 * megabyte;
  db_.max_manifest_file_size = 16 * megabyte;
}

std::shared_ptr<rocksdb::Logger> no_log() {
  class NoLog final : public rocksdb::Logger {
   public:
    using rocksdb::Logger::Logv;
    void Logv(const char*, va_list) override {}
  };
  return std::make_shared<NoLog>();
}

void RocksOptions::set_merge_pace(std::shared_ptr<rocksdb::RateLimiter> pace) {
  db_.rate_limiter = std::move(pace);
  db_.delayed_write_rate = delayed_write_rate;
}

RocksOptions RocksOptions::for_opening() const {
  auto options = *this;
  options.merges_ = false;
  return options;
}

RocksOptions RocksOptions::without_merges() const {
  auto options = *this;
  options.merges_ = false;
  return options;
}

RocksOptions RocksOptions::for_repair() const {
  auto options = without_merges();
  options.db_.track_and_verify_wals_in_manifest = false;
  return options;
}

RocksOptions RocksOptions::compact() const {
  auto options = *this;
  options.compact_ = true;
  return options;
}

RocksOptions RocksOptions::forgiving() const {
  auto options = for_repair();
  options.db_.paranoid_checks = false;  // a block's checksum is checked still, when it is read
  return options;
}

rocksdb::ColumnFamilyOptions RocksOptions::family(Family family) const {
  rocksdb::ColumnFamilyOptions options;
  options.disable_auto_compactions = !merges_;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = block_bytes;
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;
  table.block_cache = cache_;
  table.cache_index_and_filter_blocks = true;  // so that the table of memory holds however many files there are
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;

  options.compression = rocksdb::kLZ4Compression;
  // Also the bottom level: with zstd there, replays and queries took twice as long for a third less disk.
  options.level_compaction_dynamic_level_bytes = true;
  options.write_buffer_size = megabyte;  // index families are ingested only: their memtables stay empty
  options.max_write_buffer_number = 2;
  if (compact_) {
    table.block_size = compact_block_bytes;
    auto known = rocksdb::GetSupportedCompressions();
    if (std::ranges::find(known, rocksdb::kZSTD) != known.end()) options.compression = rocksdb::kZSTD;
  }
  switch (family) {
    case Family::journal:
      options.write_buffer_size = memtable_bytes_;
      options.max_write_buffer_number = 3;
      options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(shard_bytes));
      // Records are looked up by their exact key, and they exist: only files above the bottom level may lack one.
      table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
      table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(filter_bits_a_key));
      options.optimize_filters_for_hits = true;
      break;
    case Family::order:
      options.write_buffer_size = std::max<std::size_t>(memtable_bytes_ / 8, megabyte);
      break;
    case Family::state:
      options.write_buffer_size = std::max<std::size_t>(memtable_bytes_ / 4, megabyte);
      break;
    case Family::streams:
    case Family::postings:
      options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(term_bytes));
      table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(filter_bits_a_key));
      table.whole_key_filtering = false;
      break;
    case Family::ids:
      // An id is looked for on all shards: filters know ids, not keys. Files of before know keys, and are looked into.
      options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(id_bytes));
      divide_filter(table);
      table.whole_key_filtering = false;
      break;
    case Family::directory:
    case Family::runs:
      break;
  }
  if (is_index(family)) {
    // Admission slows and refuses long before RocksDB would stop all writes of all families.
    options.level0_file_num_compaction_trigger = 8;
    options.level0_slowdown_writes_trigger = 4 * index_files_full;
    options.level0_stop_writes_trigger = 8 * index_files_full;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::ColumnFamilyOptions RocksOptions::small() const {
  auto options = family(Family::runs);
  options.compression = rocksdb::kNoCompression;
  options.bottommost_compression = rocksdb::kDisableCompressionOption;
  return options;
}

std::vector<std::pair<std::string, std::uint64_t>> RocksOptions::memory_promised() const {
  auto memtables = 3 * memtable_bytes_ + 2 * std::max<std::size_t>(memtable_bytes_ / 8, megabyte) +
                   2 * std::max<std::size_t>(memtable_bytes_ / 4, megabyte);
  return {{"memory.promised.block_cache", cache_->GetCapacity()},
          {"memory.promised.memtables", memtables},
          {"memory.promised.tails", 2 * tail_bytes_max_}};
}

}  // namespace evershard::storage
