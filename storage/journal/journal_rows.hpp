// JournalRows: events become the journal's records, split at a size; says where each will lie.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "evershard/storage/journal/location.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/row_sink.hpp"

namespace evershard::storage {

/// Owner: the thread that stages. Buffers are kept from batch to batch.
class JournalRows {
 public:
  /// `next`: of each shard, the first offset its journal has not used.
  JournalRows(std::vector<ShardOffset> next, std::size_t record_bytes);

  /// Shape: offsets ascend in each shard. Events with consecutive offsets share a record of about `record_bytes`.
  EventLocation add(ShardId shard, ShardOffset offset, std::string_view body, std::uint64_t body_hash, SeqNr seq_nr,
                    EventState state, RowSink& sink);
  /// The shard goes on at this offset, whatever was there. Shape: between batches.
  void go_on_at(ShardId shard, ShardOffset next) { shards_.at(shard.value).next = next; }
  /// Ends the batch: what is not written yet is.
  void finish(RowSink& sink);
  [[nodiscard]] ShardOffset next(ShardId shard) const { return shards_.at(shard.value).next; }

 private:
  struct Shard {
    RecordBuilder builder;
    ShardOffset first;
    ShardOffset next;
    bool open = false;
  };
  void begin(ShardId id, Shard& shard, ShardOffset offset);
  void write(ShardId id, Shard& shard, RowSink& sink);

  const std::size_t record_bytes_;
  std::vector<Shard> shards_;
  std::vector<ShardId> open_;
};

}  // namespace evershard::storage
