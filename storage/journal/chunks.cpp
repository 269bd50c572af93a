#include "evershard/storage/journal/chunks.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/hex.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t u16_max = std::numeric_limits<std::uint16_t>::max();

Refused corrupt_chunk(std::string_view family, std::string_view bytes) {
  return refuse(ErrorCode::corruption, "a chunk of " + std::string(family) + " is damaged: " +
                                           std::to_string(bytes.size()) + " bytes, " + hex(bytes, 64));
}

/// The last record seen of a shard, for some shards: what the next one of the shard lies close behind. Sixteen numbers
/// that both sides keep alike; shards that share one cost a longer difference, nothing else.
class LastRecords {
 public:
  std::uint64_t& of(std::uint64_t shard) { return records_[shard % records_.size()]; }

 private:
  std::array<std::uint64_t, 16> records_{};
};

/// What the entries' types are called in the chunk: by the order of their first occurrence.
class TypeDictionary {
 public:
  std::size_t add(sharding::Term type) {
    const auto known = std::find(types_.begin(), types_.begin() + size_, type) - types_.begin();
    if (static_cast<std::size_t>(known) == size_) types_[size_++] = type;
    return static_cast<std::size_t>(known);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] sharding::Term operator[](std::size_t i) const { return types_[i]; }

 private:
  std::array<sharding::Term, chunk_entries_max> types_;
  std::size_t size_ = 0;
};

}  // namespace

void encode_postings(std::span<const Posting> postings, std::string& out) {
  EVERSHARD_CHECK(!postings.empty() && postings.size() <= chunk_entries_max, "a chunk has 1 to 128 entries");
  TypeDictionary types;
  std::array<std::uint8_t, chunk_entries_max> type_of;
  for (std::size_t i = 0; i < postings.size(); ++i) type_of[i] = static_cast<std::uint8_t>(types.add(postings[i].type));

  constexpr std::size_t entry_bytes_max = 2 * varint_bytes_max + 3 + 3 + 1;
  const std::size_t begin = out.size();
  out.resize(begin + 2 + sizeof(sharding::Term) * types.size() + entry_bytes_max * postings.size());
  char* at = out.data() + begin;
  at = put_fixed(at, static_cast<std::uint8_t>(postings.size()));
  at = put_fixed(at, static_cast<std::uint8_t>(types.size()));
  for (std::size_t i = 0; i < types.size(); ++i) at = put_fixed(at, types[i]);

  std::uint64_t position = 0;
  LastRecords last;
  for (std::size_t i = 0; i < postings.size(); ++i) {
    const Posting& posting = postings[i];
    EVERSHARD_CHECK(posting.position.value >= position, "a chunk's positions ascend");
    at = put_varint(at, posting.position.value - position);
    position = posting.position.value;
    at = put_varint(at, posting.location.shard.value);
    std::uint64_t& record = last.of(posting.location.shard.value);
    at = put_varint(at, zigzag(posting.location.record.value - record));
    record = posting.location.record.value;
    at = put_varint(at, posting.location.index);
    if (types.size() > 1) at = put_fixed(at, type_of[i]);
  }
  out.resize(static_cast<std::size_t>(at - out.data()));
}

Result<void> decode_postings(std::string_view bytes, std::vector<Posting>& out) {
  if (bytes.size() < 2) return corrupt_chunk("postings", bytes);
  const std::size_t count = static_cast<unsigned char>(bytes[0]);
  const std::size_t type_count = static_cast<unsigned char>(bytes[1]);
  const std::size_t entries_begin = 2 + sizeof(sharding::Term) * type_count;
  const std::size_t entry_bytes_min = type_count > 1 ? 5 : 4;
  if (count == 0 || count > chunk_entries_max || type_count == 0 || type_count > count ||
      bytes.size() < entries_begin + count * entry_bytes_min) {
    return corrupt_chunk("postings", bytes);
  }

  const char* const types = bytes.data() + 2;
  const char* at = bytes.data() + entries_begin;
  const char* const end = bytes.data() + bytes.size();
  const std::size_t out_begin = out.size();
  out.resize(out_begin + count);
  Posting* posting = out.data() + out_begin;
  std::uint64_t position = 0;
  LastRecords last;
  bool ok = true;
  for (std::size_t i = 0; i < count; ++i, ++posting) {
    std::uint64_t ahead = 0, shard = 0, difference = 0, index = 0, type = 0;
    if ((at = get_varint(at, end, ahead)) == nullptr || (at = get_varint(at, end, shard)) == nullptr ||
        (at = get_varint(at, end, difference)) == nullptr || (at = get_varint(at, end, index)) == nullptr) {
      ok = false;
      break;
    }
    if (type_count > 1) {
      if (at == end) {
        ok = false;
        break;
      }
      type = static_cast<unsigned char>(*at++);
    }
    std::uint64_t& record = last.of(shard);
    record += unzigzag(difference);
    const std::uint64_t before = position;
    position += ahead;
    if (shard > u16_max || index > u16_max || type >= type_count || position < before) {
      ok = false;
      break;
    }
    posting->position = GlobalPosition(position);
    posting->location.shard = ShardId(static_cast<std::uint16_t>(shard));
    posting->location.record = ShardOffset(record);
    posting->location.index = static_cast<std::uint16_t>(index);
    posting->type = get_fixed<sharding::Term>(types + sizeof(sharding::Term) * type);
  }
  if (ok && at == end) return {};
  out.resize(out_begin);
  return corrupt_chunk("postings", bytes);
}

void encode_stream(std::string_view aggregate_text, std::span<const StreamEntry> entries, std::string& out) {
  EVERSHARD_CHECK(!entries.empty() && entries.size() <= chunk_entries_max, "a chunk has 1 to 128 entries");
  const ShardId shard = entries.front().location.shard;
  out += static_cast<char>(entries.size());
  append_varint(out, aggregate_text.size());
  out += aggregate_text;
  append_varint(out, shard.value);
  std::uint64_t position = 0;
  std::uint64_t record = 0;
  for (const StreamEntry& entry : entries) {
    EVERSHARD_CHECK(entry.location.shard == shard, "an aggregate's events lie in one shard");
    EVERSHARD_CHECK(entry.position.value >= position, "a chunk's positions ascend");
    append_varint(out, entry.position.value - position);
    append_varint(out, zigzag(entry.location.record.value - record));
    append_varint(out, entry.location.index);
    position = entry.position.value;
    record = entry.location.record.value;
  }
}

Result<void> decode_stream(std::string_view bytes, StreamChunk& out) {
  out.entries.clear();
  ByteReader reader(bytes);
  const std::size_t count = reader.fixed<std::uint8_t>();
  out.aggregate_text = reader.bytes(reader.varint());
  const ShardId shard(static_cast<std::uint16_t>(reader.varint(u16_max)));
  if (!reader.ok() || count == 0 || count > chunk_entries_max) return corrupt_chunk("streams", bytes);
  out.entries.reserve(count);
  std::uint64_t position = 0;
  std::uint64_t record = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t ahead = reader.varint();
    if (position + ahead < position) reader.fail();
    position += ahead;
    record += unzigzag(reader.varint());
    const auto index = static_cast<std::uint16_t>(reader.varint(u16_max));
    out.entries.push_back({GlobalPosition(position), {shard, ShardOffset(record), index}});
  }
  if (reader.done()) return {};
  out.entries.clear();
  return corrupt_chunk("streams", bytes);
}

Result<std::string_view> decode_stream_owner(std::string_view bytes, std::size_t& entries) {
  ByteReader reader(bytes);
  entries = reader.fixed<std::uint8_t>();
  const std::string_view text = reader.bytes(reader.varint());
  if (!reader.ok() || entries == 0 || entries > chunk_entries_max) return corrupt_chunk("streams", bytes);
  return text;
}

std::string encode_id(const IdEntry& entry) {
  std::string out;
  out += static_cast<char>(entry.kind);
  append_varint(out, entry.position.value);
  append_varint(out, entry.location.shard.value);
  append_varint(out, entry.location.record.value);
  append_varint(out, entry.location.index);
  return out;
}

Result<IdEntry> decode_id_entry(std::string_view bytes) {
  ByteReader reader(bytes);
  IdEntry entry;
  const auto flags = reader.fixed<std::uint8_t>();
  entry.kind = static_cast<IdKind>(flags);
  entry.position = GlobalPosition(reader.varint());
  entry.location.shard = ShardId(static_cast<std::uint16_t>(reader.varint(u16_max)));
  entry.location.record = ShardOffset(reader.varint());
  entry.location.index = static_cast<std::uint16_t>(reader.varint(u16_max));
  if (!reader.done() || flags > static_cast<std::uint8_t>(IdKind::request)) return corrupt_chunk("ids", bytes);
  return entry;
}

void encode_runs(std::span<const sharding::Run> runs, std::string& out) {
  EVERSHARD_CHECK(!runs.empty() && runs.size() <= chunk_entries_max, "a chunk has 1 to 128 entries");
  out += static_cast<char>(runs.size());
  std::uint64_t position = 0;  // behind the run before
  std::uint64_t offset = 0;
  for (const sharding::Run& run : runs) {
    EVERSHARD_CHECK(run.shard == runs.front().shard, "a chunk's runs are of one shard");
    EVERSHARD_CHECK(run.position.value >= position && run.offset.value >= offset && run.count > 0,
                    "a shard's runs ascend, and none is empty");
    append_varint(out, run.position.value - position);
    append_varint(out, run.offset.value - offset);
    append_varint(out, run.count);
    position = run.position.value + run.count;
    offset = run.offset.value + run.count;
  }
}

Result<void> decode_runs(ShardId shard, std::string_view bytes, std::vector<sharding::Run>& out) {
  const std::size_t out_begin = out.size();
  ByteReader reader(bytes);
  const std::size_t count = reader.fixed<std::uint8_t>();
  if (count == 0 || count > chunk_entries_max) reader.fail();
  std::uint64_t position = 0;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < count && reader.ok(); ++i) {
    const std::uint64_t first_position = position + reader.varint();
    const std::uint64_t first_offset = offset + reader.varint();
    const std::uint64_t events = reader.varint();
    // Each sum is compared with what it was made of: none went past 2^64.
    if (events == 0 || first_position < position || first_offset < offset || first_position + events < first_position ||
        first_offset + events < first_offset) {
      reader.fail();
    }
    out.push_back({shard, GlobalPosition(first_position), ShardOffset(first_offset), events});
    position = first_position + events;
    offset = first_offset + events;
  }
  if (reader.done()) return {};
  out.resize(out_begin);
  return corrupt_chunk("runs", bytes);
}

std::string encode_directory(sharding::Term stream, ShardId shard) {
  std::string out;
  append_fixed(out, stream);
  append_fixed(out, shard.value);
  return out;
}

Result<DirectoryEntry> decode_directory_entry(std::string_view bytes) {
  ByteReader reader(bytes);
  DirectoryEntry entry{};
  entry.stream = reader.fixed<sharding::Term>();
  entry.shard = ShardId(reader.fixed<std::uint16_t>());
  if (!reader.done()) return corrupt_chunk("directory", bytes);
  return entry;
}

}  // namespace evershard::storage
