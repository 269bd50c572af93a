#include "evershard/storage/journal/waiting_row.hpp"

#include <limits>

#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/stored_id.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint8_t waiting_row_version = 1;
constexpr std::uint64_t most_u32 = std::numeric_limits<std::uint32_t>::max();
enum WaitingFlag : std::uint8_t { is_tentative = 1, is_part = 2, unknown_waiting_flags = 0xFC };
enum WaitingSnapshotFlag : std::uint8_t { with_keep = 1, with_ttl = 2, unknown_snapshot_bits = 0xFC };

void append_sized(std::string& out, std::string_view bytes) {
  append_varint(out, bytes.size());
  out += bytes;
}

void append_terms(std::string& out, const std::vector<sharding::Term>& terms) {
  append_varint(out, terms.size());
  for (const sharding::Term term : terms) append_fixed(out, term);
}

/// How many follow; never more than could be there at `bytes_least` each.
std::size_t take_count(ByteReader& reader, std::size_t bytes_least) {
  return reader.varint(reader.left() / bytes_least);
}

std::vector<sharding::Term> take_terms(ByteReader& reader) {
  std::vector<sharding::Term> terms(take_count(reader, sizeof(sharding::Term)));
  for (auto& term : terms) term = reader.fixed<sharding::Term>();
  return terms;
}

void append_condition(std::string& out, const sharding::TermCondition& condition) {
  append_varint(out, condition.from.value);
  out += static_cast<char>(condition.query.everything);
  append_varint(out, condition.query.items.size());
  for (const auto& item : condition.query.items) {
    append_terms(out, item.types);
    append_terms(out, item.all);
  }
}

sharding::TermCondition take_condition(ByteReader& reader) {
  sharding::TermCondition condition;
  condition.from = GlobalPosition(reader.varint());
  const auto everything = reader.fixed<std::uint8_t>();
  if (everything > 1) reader.fail();
  condition.query.everything = everything == 1;
  condition.query.items.resize(take_count(reader, 2));
  for (auto& item : condition.query.items) {
    item.types = take_terms(reader);
    item.all = take_terms(reader);
  }
  return condition;
}

void append_waiting_snapshot(std::string& out, const WaitingSnapshot& waiting) {
  const Snapshot& snapshot = waiting.snapshot;
  out += static_cast<char>((snapshot.keep ? with_keep : 0) | (snapshot.ttl ? with_ttl : 0));
  append_sized(out, snapshot.aggregate.type);
  append_sized(out, snapshot.aggregate.value);
  append_varint(out, snapshot.version.value);
  append_varint(out, waiting.event.value);
  append_varint(out, static_cast<std::uint32_t>(snapshot.format));
  append_varint(out, snapshot.schema_revision);
  if (snapshot.keep) append_varint(out, *snapshot.keep);
  if (snapshot.ttl) append_varint(out, static_cast<std::uint64_t>(snapshot.ttl->count()));
  append_sized(out, snapshot.payload);
}

WaitingSnapshot take_waiting_snapshot(ByteReader& reader) {
  WaitingSnapshot waiting;
  Snapshot& snapshot = waiting.snapshot;
  const auto flags = reader.fixed<std::uint8_t>();
  if ((flags & unknown_snapshot_bits) != 0) reader.fail();
  snapshot.aggregate.type = reader.bytes(reader.varint());
  snapshot.aggregate.value = reader.bytes(reader.varint());
  snapshot.version = SeqNr(reader.varint());
  waiting.event = ShardOffset(reader.varint());
  snapshot.format = static_cast<PayloadFormat>(reader.varint(most_u32));
  snapshot.schema_revision = static_cast<std::uint32_t>(reader.varint(most_u32));
  if ((flags & with_keep) != 0) snapshot.keep = static_cast<std::uint32_t>(reader.varint(most_u32));
  if ((flags & with_ttl) != 0)
    snapshot.ttl = std::chrono::seconds(reader.varint(std::numeric_limits<std::int64_t>::max()));
  snapshot.payload = reader.bytes(reader.varint());
  return waiting;
}

}  // namespace

std::string encode(const WaitingRow& row) {
  std::string out;
  out += static_cast<char>(waiting_row_version);
  out += static_cast<char>((row.tentative ? is_tentative : 0) | (row.part ? is_part : 0));
  append_varint(out, row.events);
  append_fixed(out, row.appended_at.micros);
  append_varint(out, row.conditions.size());
  for (const auto& condition : row.conditions) append_condition(out, condition);
  if (row.part) {
    append_id(out, row.part->append);
    append_varint(out, row.part->runs.size());
    for (const auto& [shard, events] : row.part->runs) {
      append_varint(out, shard.value);
      append_varint(out, events);
    }
  }
  append_varint(out, row.snapshots.size());
  for (const auto& snapshot : row.snapshots) append_waiting_snapshot(out, snapshot);
  append_fixed(out, checksum(out));
  return out;
}

Result<WaitingRow> decode_waiting(std::string_view bytes) {
  const auto damaged_row = [&](const std::string& why) {
    return corrupt("a row of a waiting append is damaged: " + why + " (" + std::to_string(bytes.size()) + " bytes)");
  };
  if (bytes.size() < sizeof(std::uint64_t)) return damaged_row("it is too short");
  const auto covered = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
  if (checksum(covered) != get_fixed<std::uint64_t>(covered.data() + covered.size()))
    return damaged_row("its checksum does not match");

  ByteReader reader(covered);
  if (const auto version = reader.fixed<std::uint8_t>(); version != waiting_row_version) {
    return damaged_row("its form has version " + std::to_string(version));
  }
  WaitingRow row;
  const auto flags = reader.fixed<std::uint8_t>();
  row.tentative = (flags & is_tentative) != 0;
  row.events = static_cast<std::uint32_t>(reader.varint(most_u32));
  row.appended_at.micros = reader.fixed<std::int64_t>();
  row.conditions.resize(take_count(reader, 3));
  for (auto& condition : row.conditions) condition = take_condition(reader);
  if ((flags & is_part) != 0) {
    auto& part = row.part.emplace();
    part.append = take_id(reader);
    part.runs.resize(take_count(reader, 2));
    for (auto& [shard, events] : part.runs) {
      shard = ShardId(static_cast<std::uint16_t>(reader.varint(std::numeric_limits<std::uint16_t>::max())));
      events = static_cast<std::uint32_t>(reader.varint(most_u32));
    }
  }
  row.snapshots.resize(take_count(reader, 8));
  for (auto& snapshot : row.snapshots) snapshot = take_waiting_snapshot(reader);
  if (!reader.done() || (flags & unknown_waiting_flags) != 0 || row.events == 0)
    return damaged_row("its parts do not fit");
  return row;
}

}  // namespace evershard::storage
