// Chunks: the values of sealed rows. Up to 128 entries each, deltas as varints.
//
// Source: docs/internals/on-disk-format.md, "Streams", "Postings", "Runs".

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/runs.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/journal/location.hpp"

namespace evershard::storage {

inline constexpr std::size_t chunk_entries_max = 128;

struct Posting {
  GlobalPosition position;
  EventLocation location;
  sharding::Term type = 0;  ///< filtered in passing
};

struct StreamEntry {
  GlobalPosition position;
  EventLocation location;  ///< seq_nr: the chunk's first, and one more each
};

/// Positions ascend. Types go through a dictionary of the chunk.
void encode_postings(std::span<const Posting> postings, std::string& out);
/// Appends to `out`. Cost: 20 ns or less an entry. Errors: corruption
Result<void> decode_postings(std::string_view bytes, std::vector<Posting>& out);

/// One aggregate's entries, with consecutive seq_nrs; its text stands in the chunk: other aggregates under the same
/// hash are told apart without reading a record.
void encode_stream(std::string_view aggregate_text, std::span<const StreamEntry> entries, std::string& out);
struct StreamChunk {
  std::string_view aggregate_text;  ///< in the bytes decoded
  std::vector<StreamEntry> entries;
};
Result<void> decode_stream(std::string_view bytes, StreamChunk& out);
/// Decodes only the owner of the chunk and the number of its entries.
Result<std::string_view> decode_stream_owner(std::string_view bytes, std::size_t& entries);

/// What a key of `ids` names. Numbers of the format.
enum class IdKind : std::uint8_t {
  event = 0,
  command = 1,  ///< a command; the event is the first of its aggregate
  request = 2,  ///< a request whose first event has an id of its own; the event is that one
};

struct IdEntry {
  GlobalPosition position;
  EventLocation location;
  IdKind kind = IdKind::event;
};
std::string encode_id(const IdEntry& entry);
Result<IdEntry> decode_id_entry(std::string_view bytes);

/// Runs of one shard, in order of position.
void encode_runs(std::span<const sharding::Run> runs, std::string& out);
Result<void> decode_runs(ShardId shard, std::string_view bytes, std::vector<sharding::Run>& out);

/// The directory's value: the aggregate's stream term and shard.
std::string encode_directory(sharding::Term stream, ShardId shard);
struct DirectoryEntry {
  sharding::Term stream;
  ShardId shard;
};
Result<DirectoryEntry> decode_directory_entry(std::string_view bytes);

}  // namespace evershard::storage
