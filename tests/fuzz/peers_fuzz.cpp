// Fuzzing what the processes of a cluster say to each other: any bytes are refused as malformed, or read, written and
// read again as the same. The first byte says which message the rest is.

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "evershard/cluster/peers/key_messages.hpp"
#include "evershard/cluster/peers/peer_messages.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/sharding/term_hash.hpp"

namespace {

using namespace evershard;
using namespace evershard::cluster;

constexpr std::uint32_t fuzz_shards = 4;
const sharding::TermHasher fuzz_hasher{0x5eed};

/// `write(value)`: its bytes. What is written once is a fixed point.
void look_at(std::string_view bytes, const auto& read, const auto& write) {
  const auto value = read(bytes);
  if (!value) {
    EVERSHARD_CHECK(value.error().code == ErrorCode::corruption && is_utf8(value.error().what),
                    "a refusal is text, and of its kind");
    return;
  }
  const std::string written = write(*value);
  const auto again = read(written);
  EVERSHARD_CHECK(again.has_value(), "what was written is read again");
  const std::string twice = write(*again);
  EVERSHARD_CHECK(std::ranges::equal(twice, written), "equal values are equal bytes");
}

template <PeerKind kind>
void look_up(std::string_view bytes) {
  look_at(
      bytes, [](std::string_view b) { return decode_to_coordinator(kind, b); },
      [](const ToCoordinator& value) { return encode(value).bytes; });
}

template <PeerKind kind>
void look_down(std::string_view bytes) {
  look_at(
      bytes, [](std::string_view b) { return decode_from_coordinator(kind, b); },
      [](const FromCoordinator& value) {
        return std::visit([](const auto& one) { return encode(one).bytes; }, value);
      });
}

template <auto read>
void look_across(std::string_view bytes) {
  look_at(bytes, read, [](const auto& value) { return encode(value); });
}

void look_at_part(std::string_view bytes) {
  look_at(
      bytes, [](std::string_view b) { return decode_part(b, fuzz_shards, fuzz_hasher); },
      [](const PartMessage& message) {
        for (const auto& event : message.of->prepared.append.events)
          EVERSHARD_CHECK(event.shard == message.part.shard, "a part is of its shard");
        return encode_part(*message.of, message.part);
      });
}

void look_at_forward(std::string_view bytes) {
  look_at(bytes, decode_forward, [](const Append& append) { return encode_forward(append); });
}

void look_at_head(std::string_view bytes) {
  const AggregateId of{"order", "1"};
  look_at(
      bytes, [&](std::string_view b) { return decode_head(b, of, ShardId{2}); },
      [](const AggregateInfo& head) { return encode_head(head); });
}

void look_at_put_snapshot(std::string_view bytes) {
  look_at(bytes, decode_put_snapshot, [](const auto& put) { return encode(put.first, put.second); });
}

/// A range of a journal is looked through before it is written.
void look_at_ship(std::string_view bytes) {
  look_across<decode_ship>(bytes);
  auto ship = decode_ship(bytes);
  if (!ship) return;
  for (auto& [epoch, rows] : ship->shards) {
    const auto read = storage::read_rows(std::move(rows), fuzz_hasher);
    EVERSHARD_CHECK(read || read.error().code == ErrorCode::corruption, "a refusal is of its kind");
  }
}

void look_at_shipped_snapshot(std::string_view bytes) {
  look_at(bytes, decode_shipped_snapshot, [](const auto& of) { return encode(of.first, of.second); });
}

void look_at_row_log(std::string_view bytes) {
  look_across<decode_row_log_part>(bytes);
  const auto part = decode_row_log_part(bytes);
  if (!part) return;
  for (const auto& row : part->rows) {
    const auto entry = storage::decode_row_log(part->shard, row);
    EVERSHARD_CHECK(
        entry ? storage::encode_row_log(part->shard, *entry) == row
              : entry.error().code == ErrorCode::corruption || entry.error().code == ErrorCode::invalid_argument,
        "an entry has one form, a refusal is of its kind");
  }
}

void look_at_journal(std::string_view bytes) {
  look_at(bytes, decode_journal, [](const auto& of) { return encode_journal(of); });
}

void look_at_history_asked(std::string_view bytes) {
  look_at(bytes, decode_history_asked, [](GlobalPosition after) { return encode_history_asked(after); });
}

// Appended to, never sorted: an input's first byte is its place here.
constexpr std::array<void (*)(std::string_view), 43> looks{
    look_up<PeerKind::hello>,
    look_up<PeerKind::cuts_after>,
    look_up<PeerKind::held>,
    look_up<PeerKind::report>,
    look_down<PeerKind::welcome>,
    look_down<PeerKind::hello_refused>,
    look_down<PeerKind::opens>,
    look_down<PeerKind::announce>,
    look_down<PeerKind::cuts>,
    look_down<PeerKind::report_from>,
    look_down<PeerKind::cut_promised>,
    look_down<PeerKind::members>,
    look_across<decode_read>,
    look_across<decode_read_stream>,
    look_across<decode_head_asked>,
    look_across<decode_page>,
    look_at_head,
    look_across<decode_snapshots_asked>,
    look_across<decode_snapshots>,
    look_at_put_snapshot,
    look_across<decode_aggregates_asked>,
    look_across<decode_aggregates>,
    look_at_forward,
    look_at_part,
    look_across<decode_part_answer>,
    look_across<decode_keys_asked>,
    look_across<decode_keys_answered>,
    look_across<decode_keys_forget>,
    look_across<decode_keys_forgotten>,
    look_down<PeerKind::tell_again>,
    look_at_ship,
    look_across<decode_followed>,
    look_at_shipped_snapshot,
    look_at_history_asked,
    look_across<decode_history>,
    look_at_row_log,
    look_across<decode_row_log_asked>,
    look_across<decode_journal_sum_asked>,
    look_across<decode_journal_sum>,
    look_down<PeerKind::narrow>,
    look_up<PeerKind::narrowed>,
    look_across<decode_journal_asked>,
    look_at_journal,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] >= looks.size())
    return 0;  // not wrapped around: what an input is does not hang on how many there are
  const google::protobuf::LogSilencer silence;
  looks[data[0]]({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
