#define XXH_INLINE_ALL
#include "evershard/storage/journal/snapshot_row.hpp"

#include <xxhash.h>

#include <limits>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {
namespace {

enum SnapshotFlag : std::uint8_t { has_keep = 1, has_expiry = 2, unknown_snapshot_flags = 0xFC };
constexpr std::uint8_t snapshot_row_version = 1;
constexpr std::uint64_t u32_max = std::numeric_limits<std::uint32_t>::max();

/// XXH3 of the bytes, seeded with XXH3 of the aggregate's text: a row under another aggregate's key is found out.
std::uint64_t bound_checksum(std::string_view bytes, const AggregateId& aggregate) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), checksum(aggregate.text()));
}

Timestamp expiry(Timestamp taken_at, std::chrono::seconds ttl) {
  const std::int64_t left_us = Timestamp::last().micros - taken_at.micros;
  if (ttl.count() > left_us / 1'000'000) return Timestamp::last();
  return {taken_at.micros + ttl.count() * 1'000'000};
}

Refused corrupt_snapshot(std::string_view bytes, const AggregateId& aggregate, std::string_view why) {
  return refuse(ErrorCode::corruption, "a snapshot of " + in_quotes(aggregate.text()) + " is damaged: " +
                                           std::string(why) + " (" + std::to_string(bytes.size()) + " bytes)");
}

}  // namespace

std::string encode_snapshot(const Snapshot& snapshot, GlobalPosition position, Timestamp taken_at) {
  std::string out;
  out.reserve(2 + 6 * varint_bytes_max + 2 * sizeof(std::int64_t) + snapshot.payload.size() + sizeof(std::uint64_t));
  out += static_cast<char>(snapshot_row_version);
  out += static_cast<char>((snapshot.keep ? has_keep : 0) | (snapshot.ttl ? has_expiry : 0));
  append_varint(out, snapshot.version.value);
  append_varint(out, position.value);
  append_varint(out, static_cast<std::uint32_t>(snapshot.format));
  append_varint(out, snapshot.schema_revision);
  append_fixed(out, taken_at.micros);
  if (snapshot.ttl) append_fixed(out, expiry(taken_at, *snapshot.ttl).micros);
  if (snapshot.keep) append_varint(out, *snapshot.keep);
  out += snapshot.payload;
  append_fixed(out, bound_checksum(out, snapshot.aggregate));
  return out;
}

std::string encode_latest_snapshot(const RecordedSnapshot& snapshot, std::optional<std::uint32_t> keep) {
  Snapshot latest;
  latest.aggregate = snapshot.aggregate;
  latest.version = snapshot.version;
  latest.payload = snapshot.payload;
  latest.format = snapshot.format;
  latest.schema_revision = snapshot.schema_revision;
  latest.keep = keep;
  return encode_snapshot(latest, snapshot.position, snapshot.taken_at);
}

bool may_lie_in_two_rows(const AggregateId& aggregate) {
  return aggregate.type == "$group" || aggregate.type == "$persistent";
}

std::optional<std::uint64_t> base_of_payload(const AggregateId& aggregate, std::string_view payload) {
  if (!payload.starts_with(difference_mark) || payload.size() < difference_head || !may_lie_in_two_rows(aggregate))
    return std::nullopt;
  return get_fixed<std::uint64_t>(payload.data() + difference_mark.size());
}

Result<RecordedSnapshot> decode_snapshot(std::string_view bytes, const AggregateId& aggregate,
                                         std::optional<std::uint32_t>* keep) {
  auto snapshot = decode_snapshot_parts(bytes, aggregate, keep);
  if (snapshot && base_of_payload(aggregate, snapshot->payload))
    return corrupt_snapshot(bytes, aggregate, "it is a part of one, the other part is not there");
  return snapshot;
}

Result<RecordedSnapshot> decode_snapshot_parts(std::string_view bytes, const AggregateId& aggregate,
                                               std::optional<std::uint32_t>* keep) {
  constexpr std::size_t checksum_bytes = sizeof(std::uint64_t);
  if (bytes.size() < checksum_bytes) return corrupt_snapshot(bytes, aggregate, "it is too short");
  const std::string_view covered = bytes.substr(0, bytes.size() - checksum_bytes);
  if (bound_checksum(covered, aggregate) != get_fixed<std::uint64_t>(covered.data() + covered.size())) {
    return corrupt_snapshot(bytes, aggregate, "its checksum does not match");
  }

  ByteReader reader(covered);
  const auto version = reader.fixed<std::uint8_t>();
  if (version != snapshot_row_version)
    return corrupt_snapshot(bytes, aggregate, "its row has version " + std::to_string(version));
  const auto flags = reader.fixed<std::uint8_t>();
  RecordedSnapshot snapshot;
  snapshot.aggregate = aggregate;
  snapshot.version = SeqNr(reader.varint());
  snapshot.position = GlobalPosition(reader.varint());
  snapshot.format = static_cast<PayloadFormat>(reader.varint(u32_max));
  snapshot.schema_revision = static_cast<std::uint32_t>(reader.varint(u32_max));
  snapshot.taken_at.micros = reader.fixed<std::int64_t>();
  if (flags & has_expiry) snapshot.expires_at = Timestamp{reader.fixed<std::int64_t>()};
  std::optional<std::uint32_t> kept;
  if (flags & has_keep) kept = static_cast<std::uint32_t>(reader.varint(u32_max));
  snapshot.payload = reader.rest();
  if (!reader.ok() || (flags & unknown_snapshot_flags))
    return corrupt_snapshot(bytes, aggregate, "its parts do not fit");
  if (keep) *keep = kept;
  return snapshot;
}

}  // namespace evershard::storage
