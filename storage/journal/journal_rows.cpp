#include "evershard/storage/journal/journal_rows.hpp"

#include <limits>

#include "evershard/protocol/check.hpp"
#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t record_events_max =
    std::numeric_limits<std::uint16_t>::max();  // an index in a record has two bytes

}  // namespace

JournalRows::JournalRows(std::vector<ShardOffset> next, std::size_t record_bytes)
    : record_bytes_(record_bytes), shards_(next.size()) {
  for (std::size_t i = 0; i < shards_.size(); ++i) shards_[i].next = next[i];
}

EventLocation JournalRows::add(ShardId id, ShardOffset offset, std::string_view body, std::uint64_t body_hash,
                               SeqNr seq_nr, EventState state, RowSink& sink) {
  EVERSHARD_CHECK(id.value < shards_.size(), "a shard of this store");
  auto& shard = shards_[id.value];
  EVERSHARD_CHECK(offset >= shard.next, "offsets ascend");
  if (shard.open && (offset != shard.next || shard.builder.events() >= record_events_max ||
                     shard.builder.bytes() + body.size() > record_bytes_)) {
    write(id, shard, sink);
    begin(id, shard, offset);
  } else if (!shard.open) {
    open_.push_back(id);
    begin(id, shard, offset);
  }
  const EventLocation location{id, shard.first, static_cast<std::uint16_t>(offset - shard.first)};
  shard.builder.add(body, body_hash, seq_nr, state);
  shard.next = offset + 1;
  return location;
}

void JournalRows::finish(RowSink& sink) {
  for (auto id : open_) write(id, shards_[id.value], sink);
  open_.clear();
}

void JournalRows::begin(ShardId id, Shard& shard, ShardOffset offset) {
  shard.first = offset;
  shard.builder.begin(id, offset);
  shard.open = true;
}

void JournalRows::write(ShardId id, Shard& shard, RowSink& sink) {
  sink.put(Family::journal, keys::journal(id, shard.first), shard.builder.finish());
  shard.open = false;
}

}  // namespace evershard::storage
