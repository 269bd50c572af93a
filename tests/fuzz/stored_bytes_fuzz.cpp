// Fuzzing what is read from disks: keys and rows of every family. The first byte says which; of rows with a checksum
// also those whose checksum holds, else nothing behind it would ever be looked at.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/check.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/index/index_entry.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/chunks.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/storage/journal/waiting_row.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/repair/inspect.hpp"

namespace {

using namespace evershard;
using namespace evershard::storage;

constexpr ShardId shard_7{7};
constexpr ShardOffset offset_1000{1'000};

template <class T>
bool damaged(const Result<T>& result) {
  if (!result)
    EVERSHARD_CHECK(result.error().code == ErrorCode::corruption || result.error().code == ErrorCode::invalid_argument,
                    "damage is reported as such");
  return !result;
}

// ---- rows as they are

/// A byte for the family, one for the key's length, key, value.
void look_at_row(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const auto family = static_cast<Family>(static_cast<unsigned char>(bytes[0]) % family_count);
  const std::size_t key_bytes = static_cast<unsigned char>(bytes[1]);
  const auto key = bytes.substr(2, key_bytes);
  const auto value = bytes.substr(2 + key.size());
  (void)describe_key(family, key);
  (void)describe_value(family, key, value);
  (void)RowEntries().give(family, key, value, GlobalPosition{100'000}, [&](const IndexEntry& entry) {
    EVERSHARD_CHECK(entry.position <= GlobalPosition{100'000}, "no entry stands behind the end");
    (void)entry.hash();
  });
}

void look_at_key(std::string_view key) {
  if (const auto k = keys::decode_journal(key))
    EVERSHARD_CHECK(keys::journal(k->shard, k->offset) == key, "a journal key has one form");
  if (const auto k = keys::decode_order(key)) EVERSHARD_CHECK(keys::order(*k) == key, "an order key has one form");
  if (const auto k = keys::decode_posting(key))
    EVERSHARD_CHECK(keys::posting(k->term, k->first) == key, "a posting's key has one form");
  if (const auto k = keys::decode_stream(key))
    EVERSHARD_CHECK(keys::stream(k->stream, k->first_seq_nr, k->first) == key, "a stream's key has one form");
  if (const auto k = keys::decode_id(key))
    EVERSHARD_CHECK(keys::id(k->id, k->shard) == key, "an id's key has one form");
  if (const auto k = keys::decode_run(key))
    EVERSHARD_CHECK(keys::run(k->shard, k->first) == key, "a run's key has one form");
  if (const auto k = keys::decode_directory(key))
    EVERSHARD_CHECK(keys::directory(k->aggregate) == key, "a directory's key has one form");
  const auto k = keys::decode_state(key);
  if (damaged(k)) return;
  switch (k->kind) {
    case keys::StateKey::Kind::identity:
      return EVERSHARD_CHECK(keys::identity() == key, "the identity's key has one form");
    case keys::StateKey::Kind::applied:
      return EVERSHARD_CHECK(keys::applied() == key, "the applied row's key has one form");
    case keys::StateKey::Kind::checkpoint:
      return EVERSHARD_CHECK(keys::checkpoint(k->name) == key, "a checkpoint's key has one form");
    case keys::StateKey::Kind::covered:
      return EVERSHARD_CHECK(keys::covered(k->shard) == key, "the key of what is covered has one form");
    case keys::StateKey::Kind::waiting:
      return EVERSHARD_CHECK(keys::waiting(k->shard, k->offset) == key, "a waiting append's key has one form");
    case keys::StateKey::Kind::snapshot:
      return EVERSHARD_CHECK(keys::snapshot(k->aggregate, k->retained) == key, "a snapshot's key has one form");
  }
}

// ---- the truth

void look_at_record(std::string_view bytes) {
  const auto record = RecordView::open(bytes, shard_7, offset_1000);
  if (damaged(record)) return;
  bool whole = true;
  for (std::size_t i = 0; i < record->size(); ++i) {
    const auto event = record->event(i);
    if (damaged(event)) {
      whole = false;
      continue;
    }
    const auto read = to_event(*event, GlobalPosition{1}, {shard_7, offset_1000, static_cast<std::uint16_t>(i)});
    EVERSHARD_CHECK(read.payload == event->payload && read.append_index < read.append_events,
                    "an event is given as it lies there");
    EventEntries(sharding::TermHasher{1})
        .give(*event, GlobalPosition{1}, {shard_7, offset_1000, 0}, FamilySet::indexes(), [](const IndexEntry&) {});
  }
  EVERSHARD_CHECK(damaged(record->event(record->size())), "an event that is not there is not given");

  const std::vector<std::pair<std::uint16_t, EventState>> stubs{{0, EventState::removed}, {1, EventState::erased}};
  const auto cut_down = with_stubs(bytes, shard_7, offset_1000, stubs);
  if (!damaged(cut_down))
    EVERSHARD_CHECK(with_stubs(*cut_down, shard_7, offset_1000, stubs) == cut_down, "what is removed stays so");
  const auto all = first_events(bytes, shard_7, offset_1000, record->size());
  EVERSHARD_CHECK(!whole || all == std::string(bytes), "a sound record has one form");
  if (record->size() > 1) damaged(first_events(bytes, shard_7, offset_1000, record->size() - 1));
}

/// With the checksums that head, table and events have.
void look_at_sound_record(std::string_view bytes) {
  constexpr std::size_t head = 8, end_bytes = 4;
  std::string record(bytes);
  if (record.size() < head) return;
  const std::size_t count = get_fixed<std::uint16_t>(record.data() + 2);
  if (record.size() < head + count * end_bytes) return;
  const std::size_t events = head + count * end_bytes;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = get_fixed<std::uint32_t>(record.data() + head + i * end_bytes);
    if (begin <= end && end <= record.size() - events) {
      ByteReader reader(std::string_view(record).substr(events + begin, end - begin));
      reader.fixed<std::uint32_t>();
      const auto state = static_cast<EventState>(reader.fixed<std::uint8_t>());
      const SeqNr seq_nr(reader.varint());
      const auto body = reader.rest();
      if (reader.ok())
        put_fixed(record.data() + events + begin,
                  event_checksum(checksum(body), state, seq_nr, shard_7, offset_1000 + i));
    }
    begin = end;
  }
  const std::string_view table(record.data() + head, count * end_bytes);
  put_fixed(record.data() + 4, record_checksum(std::string_view(record).substr(0, 4), table, shard_7, offset_1000));
  look_at_record(record);
}

void look_at_cut(std::string_view bytes) {
  const auto node = sharding::decode_cut(bytes, sharding::CutOf::node);
  const auto cut = sharding::decode_cut(bytes);
  if (!damaged(cut))
    EVERSHARD_CHECK(node == cut && sharding::runs_of(*cut) == sharding::all_runs_of(*cut),
                    "a cut of the whole store is one that a node may keep");
  if (damaged(node)) return;
  EVERSHARD_CHECK(sharding::encode(*node) == bytes, "a cut has one form");
  EVERSHARD_CHECK(node->last_position().value + 1 >= node->first_position.value, "positions ascend");
  std::uint64_t events = 0;
  for (const auto& run : sharding::all_runs_of(*node)) events += run.count;
  EVERSHARD_CHECK(events == node->events(), "runs are the cut's events");
}

void look_at_applied(std::string_view bytes) {
  const auto applied = decode_applied(bytes);
  if (!damaged(applied)) EVERSHARD_CHECK(encode(*applied) == bytes, "the applied row has one form");
  const auto covered = decode_covered(bytes);
  if (damaged(covered)) return;
  const auto written = encode_covered(*covered);
  // Before lost ranges had an epoch they were of another version: that is read, and written as the newest.
  const auto version = bytes[bytes.front() == '\4' ? 1 + 8 + 8 : 0];
  if (version != '\2' || covered->lost.empty())
    EVERSHARD_CHECK(written == bytes, "the row of what is covered has one form");
  const auto again = decode_covered(written);
  EVERSHARD_CHECK(again && encode_covered(*again) == written, "it is read as it is written");
}

void look_at_identity(std::string_view bytes) {
  const auto look = [](std::string_view row) {
    const auto identity = decode_identity(row);
    if (!damaged(identity)) EVERSHARD_CHECK(encode(*identity) == row, "an identity has one form");
  };
  look(bytes);
  std::string sound(bytes);
  append_fixed(sound, checksum(bytes));
  look(sound);
}

void look_at_snapshot(std::string_view bytes) {
  const AggregateId aggregate{"order", "1"};
  damaged(decode_snapshot(bytes, aggregate));
  std::string sound(bytes);
  append_fixed(sound, std::uint64_t{XXH3_64bits_withSeed(bytes.data(), bytes.size(), checksum(aggregate.text()))});
  std::optional<std::uint32_t> keep;
  const auto snapshot = decode_snapshot(sound, aggregate, &keep);
  if (damaged(snapshot)) return;
  EVERSHARD_CHECK(damaged(decode_snapshot(sound, {"order", "2"})), "a snapshot is bound to its aggregate");
  if (snapshot->expires_at) return;  // kept as a time, given as a span
  const Snapshot given{
      aggregate, snapshot->version, snapshot->payload, snapshot->format, snapshot->schema_revision, keep, {}};
  EVERSHARD_CHECK(encode_snapshot(given, snapshot->position, snapshot->taken_at) == sound, "a snapshot has one form");
}

void look_at_waiting(std::string_view bytes) {
  const auto look = [](std::string_view row) {
    const auto waiting = decode_waiting(row);
    if (!damaged(waiting)) EVERSHARD_CHECK(encode(*waiting) == row, "a waiting append's row has one form");
  };
  look(bytes);
  std::string sound(bytes);
  append_fixed(sound, checksum(bytes));
  look(sound);
}

// ---- indexes

bool equal(const Posting& a, const Posting& b) {
  return a.position == b.position && a.location == b.location && a.type == b.type;
}

void look_at_postings(std::string_view bytes) {
  std::vector<Posting> postings, again;
  if (damaged(decode_postings(bytes, postings))) return EVERSHARD_CHECK(postings.empty(), "damage gives nothing");
  std::string written;
  encode_postings(postings, written);
  EVERSHARD_CHECK(decode_postings(written, again) &&
                      std::equal(postings.begin(), postings.end(), again.begin(), again.end(), equal),
                  "postings are kept");
}

void look_at_stream(std::string_view bytes) {
  StreamChunk chunk;
  if (damaged(decode_stream(bytes, chunk))) return EVERSHARD_CHECK(chunk.entries.empty(), "damage gives nothing");
  std::size_t entries = 0;
  EVERSHARD_CHECK(decode_stream_owner(bytes, entries) == chunk.aggregate_text && entries == chunk.entries.size(),
                  "a chunk has one owner");
  std::string written;
  encode_stream(chunk.aggregate_text, chunk.entries, written);
  EVERSHARD_CHECK(written == bytes, "a stream's chunk has one form");
}

void look_at_entry(std::string_view bytes) {
  if (const auto entry = decode_id_entry(bytes))
    EVERSHARD_CHECK(encode_id(*entry) == bytes, "an id's row has one form");
  if (const auto entry = decode_directory_entry(bytes))
    EVERSHARD_CHECK(encode_directory(entry->stream, entry->shard) == bytes, "a directory's row has one form");
  std::vector<sharding::Run> runs;
  if (damaged(decode_runs(shard_7, bytes, runs))) return EVERSHARD_CHECK(runs.empty(), "damage gives nothing");
  std::string written;
  encode_runs(runs, written);
  EVERSHARD_CHECK(written == bytes, "a chunk of runs has one form");
}

using Look = void (*)(std::string_view);
constexpr std::array<Look, 12> looks{look_at_row,      look_at_key,     look_at_record,   look_at_sound_record,
                                     look_at_cut,      look_at_applied, look_at_identity, look_at_snapshot,
                                     look_at_postings, look_at_stream,  look_at_entry,    look_at_waiting};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] >= looks.size())
    return 0;  // not wrapped around: what an input is does not hang on how many there are
  looks[data[0]]({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
