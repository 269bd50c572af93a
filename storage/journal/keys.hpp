// Keys of every family, byte by byte. Numbers are big-endian; a variable part ends the key, or ends with a NUL it
// cannot contain.
//
// Shape:  aggregates were checked (AggregateId::check): their parts have no NUL.
// Source: docs/internals/on-disk-format.md; golden bytes in tests/golden/storage_golden_test.cpp.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/term_hash.hpp"

namespace evershard::storage::keys {

using sharding::Term;

struct JournalKey {
  ShardId shard;
  ShardOffset offset;
};
struct PostingKey {
  Term term;
  GlobalPosition first;
};
struct StreamKey {
  Term stream;
  SeqNr first_seq_nr;
  GlobalPosition first;
};
struct IdKey {
  EventId id;
  ShardId shard;
};
struct RunKey {
  ShardId shard;
  GlobalPosition first;
};
struct DirectoryKey {
  AggregateId aggregate;
};  // sorts by type, then value, both in byte order
struct StateKey {
  enum class Kind : std::uint8_t { identity = 1, applied = 2, checkpoint = 3, snapshot = 4, covered = 5, waiting = 6 };
  Kind kind{};
  std::string name;               ///< checkpoint
  AggregateId aggregate;          ///< snapshot
  std::optional<SeqNr> retained;  ///< snapshot; absent: slot 0, the latest
  ShardId shard;                  ///< covered, waiting
  ShardOffset offset;             ///< waiting
};

std::string journal(ShardId shard, ShardOffset first);
std::string order(GlobalPosition first);
std::string posting(Term term, GlobalPosition first);
std::string posting_prefix(Term term);
std::string stream(Term stream, SeqNr first_seq_nr, GlobalPosition first);
std::string stream_prefix(Term stream);
std::string id(const EventId& id, ShardId shard);
std::string id_prefix(const EventId& id);
std::string run(ShardId shard, GlobalPosition first);
std::string directory(const AggregateId& aggregate);
std::string directory_type_prefix(std::string_view type);
// state: a kind byte, then the kind's own parts
std::string snapshot(const AggregateId& aggregate, std::optional<SeqNr> retained);  ///< absent: slot 0
std::string snapshot_prefix(const AggregateId& aggregate);  ///< slot 0 first, then retained ones by seq_nr
std::string identity();
std::string checkpoint(std::string_view name);  ///< of groups and projections; also definitions, by name
std::string applied();                          ///< the last cut: number and watermark
// of a node of a cluster
std::string covered(ShardId shard);                     ///< where the cuts applied end in the shard
std::string waiting(ShardId shard, ShardOffset first);  ///< of an append that no cut covers yet

// Errors of each: corruption, with the key in hex
Result<JournalKey> decode_journal(std::string_view key);
Result<GlobalPosition> decode_order(std::string_view key);
Result<PostingKey> decode_posting(std::string_view key);
Result<StreamKey> decode_stream(std::string_view key);
Result<IdKey> decode_id(std::string_view key);
Result<RunKey> decode_run(std::string_view key);
Result<DirectoryKey> decode_directory(std::string_view key);
Result<StateKey> decode_state(std::string_view key);

}  // namespace evershard::storage::keys
