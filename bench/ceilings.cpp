// What the store is held against: the same bytes in a plain file, the same entries in one synced WriteBatch.

#include <fcntl.h>
#include <rocksdb/db.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <memory>

#include "evershard/bench/parts.hpp"
#include "evershard/bench/workload.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/journal/chunks.hpp"
#include "evershard/storage/journal/encoded_append.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint32_t shard_count = 16;

storage::EncodedAppend encode(Workload& workload, const sharding::TermHasher& hasher, std::size_t events) {
  auto append = workload.append(events);
  auto given = std::make_unique<bool[]>(events);
  for (auto& event : append.events) event.id = EventId::random();
  return storage::encode_append(std::move(append), std::span<const bool>(given.get(), events), shard_count, hasher,
                                Timestamp::now());
}

}  // namespace

Result<Figure> plain_file(const BenchOptions& options, std::size_t batch) {
  const auto path = fresh(options, "file") / "log";
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0644);
  if (file < 0) return refuse(ErrorCode::io, "cannot create " + path.string());
  Workload workload(options.seed);
  const sharding::TermHasher hasher(1);
  Latencies latencies;
  std::uint64_t events = 0;
  const double began = now_seconds(), cpu = cpu_seconds();
  std::string bytes;
  while (now_seconds() - began < options.seconds) {
    bytes.clear();
    for (std::size_t i = 0; i < batch; ++i) bytes += encode(workload, hasher, 1).bodies;
    const double at = now_seconds();
    if (write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) || fdatasync(file) != 0) {
      close(file);
      return refuse(ErrorCode::io, "cannot write " + path.string());
    }
    latencies.add((now_seconds() - at) * 1e6);
    events += batch;
  }
  const double took = now_seconds() - began;
  close(file);
  Figure f{"plain file, " + std::to_string(batch) + " events a batch", static_cast<double>(events) / took, "events/s"};
  f.more = percentiles(latencies);
  f.more.emplace_back("cpu_us_per_event", (cpu_seconds() - cpu) * 1e6 / static_cast<double>(events));
  return f;
}

// One journal row an event's shard and five index rows an event, all in the batch: what the tail and the runs replace.
Result<Figure> write_batch(const BenchOptions& options, std::size_t batch) {
  const auto directory = fresh(options, "writebatch");
  rocksdb::Options rocks;
  rocks.create_if_missing = true;
  rocks.create_missing_column_families = true;
  rocks.max_background_jobs = 2;
  rocks.compression = rocksdb::kLZ4Compression;
  rocks.write_buffer_size = 32u << 20;
  rocks.max_total_wal_size = 256u << 20;
  rocks.bytes_per_sync = 1u << 20;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const char* name : {"default", "streams", "postings", "ids"}) {
    rocksdb::ColumnFamilyOptions o(rocks);
    o.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(name[0] == 'd' ? 2 : 8));
    families.emplace_back(name, o);
  }
  rocksdb::DB* opened = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  if (auto s = rocksdb::DB::Open(rocks, directory.string(), families, &handles, &opened); !s.ok())
    return refuse(ErrorCode::io, s.ToString());
  const std::unique_ptr<rocksdb::DB> db(opened);

  Workload workload(options.seed);
  const sharding::TermHasher hasher(1);
  std::vector<std::uint64_t> next(shard_count, 1);
  std::vector<storage::RecordBuilder> records(shard_count);
  std::vector<std::uint64_t> first(shard_count), version(workload.shape().aggregates, 0);
  std::uint64_t position = 0;
  Latencies latencies;
  const double began = now_seconds(), cpu = cpu_seconds();
  rocksdb::WriteOptions synced;
  synced.sync = true;
  Result<void> done{};
  while (now_seconds() - began < options.seconds) {
    rocksdb::WriteBatch all;
    for (std::uint32_t s = 0; s < shard_count; ++s)
      records[s].begin(ShardId(static_cast<std::uint16_t>(s)), ShardOffset(first[s] = next[s]));
    for (std::size_t i = 0; i < batch; ++i) {
      const auto append = encode(workload, hasher, 1);
      const auto& event = append.events[0];
      const auto s = event.shard.value;
      const SeqNr seq{++version[std::stoull(append.aggregates[0].id.value)]};
      records[s].add(append.body_of(event), event.body_hash, seq);
      const GlobalPosition at{++position};
      const auto place =
          storage::encode_id({at,
                              {event.shard, ShardOffset(first[s]), static_cast<std::uint16_t>(next[s] - first[s])},
                              storage::IdKind::event});
      ++next[s];
      all.Put(handles[1], storage::keys::stream(append.aggregates[0].stream, seq, at), place);
      for (const auto term : append.terms_of(event).first(3))
        all.Put(handles[2], storage::keys::posting(term, at), place);
      all.Put(handles[3], storage::keys::id(event.id, event.shard), place);
    }
    for (std::uint32_t s = 0; s < shard_count; ++s)
      if (next[s] > first[s]) {
        const auto bytes = records[s].finish();
        all.Put(handles[0], storage::keys::journal(ShardId(static_cast<std::uint16_t>(s)), ShardOffset(first[s])),
                rocksdb::Slice(bytes.data(), bytes.size()));
      }
    const double at = now_seconds();
    if (auto s = db->Write(synced, &all); !s.ok()) {
      done = refuse(ErrorCode::io, s.ToString());
      break;
    }
    latencies.add((now_seconds() - at) * 1e6);
  }
  const double took = now_seconds() - began;
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
  EVERSHARD_TRY(done);
  Figure f{"one WriteBatch with the indexes, " + std::to_string(batch) + " events a commit",
           static_cast<double>(position) / took, "events/s"};
  f.more = percentiles(latencies);
  f.more.emplace_back("cpu_us_per_event", (cpu_seconds() - cpu) * 1e6 / static_cast<double>(position));
  return f;
}

Result<void> measure_ceilings(const BenchOptions& options, Report& report) {
  report.heading("Ceilings: a plain file (write + fdatasync a batch), and the same entries in one synced WriteBatch");
  for (const auto& measure : {plain_file, write_batch}) {
    for (const std::size_t batch : {1, 64, 256, 4'096}) {
      EVERSHARD_TRY(add(options, report, measure(options, batch)));
    }
  }
  return {};
}

}  // namespace evershard::bench
