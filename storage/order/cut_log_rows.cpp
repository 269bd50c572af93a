#include "evershard/storage/order/cut_log_rows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/protocol/hex.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage::cut_log_rows {
namespace {

constexpr char identity_kind = 1;
constexpr char epoch_kind = 2;
constexpr char leaderships_part = 1;
constexpr char leader_part = 2;
constexpr char checkpoint_kind = 3;
constexpr char cut_kind = 4;
constexpr char form_version = 1;
// Of a checkpoint. Earlier forms have the number of a cut for each shard, which says nothing that the rows do not say;
// the first has no losses.
constexpr char form_with_losses = 2;
constexpr char form_without_folded = 3;
constexpr char form_with_replicas = 4;
constexpr char form_with_learned = 5;
constexpr std::size_t number_bytes = 8;
constexpr std::size_t bytes_shown = 64;

std::string sealed(const std::string& key, std::string body) {
  append_fixed(body, checksum(key + body));
  return body;
}

Refused damaged_row(const std::string& row, std::string_view bytes, const std::string& why) {
  return corrupt("the cut log's " + row + " is damaged: " + why + ", in " + hex(bytes, bytes_shown));
}

/// What stands before the checksum.
Result<std::string_view> unsealed(const std::string& row, const std::string& key, std::string_view bytes) {
  if (bytes.size() < sizeof(std::uint64_t))
    return damaged_row(row, bytes, std::to_string(bytes.size()) + " bytes are too few");
  const auto body = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
  if (checksum(key + std::string(body)) != get_fixed<std::uint64_t>(body.data() + body.size()))
    return damaged_row(row, bytes, "its checksum does not match");
  return body;
}

}  // namespace

std::string identity_key() { return {identity_kind}; }
std::string epoch_key() { return {epoch_kind}; }
std::string leaderships_key() { return {epoch_kind, leaderships_part}; }
std::string leader_key() { return {epoch_kind, leader_part}; }
std::string checkpoint_key() { return {checkpoint_kind}; }
std::string cut_prefix() { return {cut_kind}; }

std::string cut_key(CutNumber number) {
  std::string key = cut_prefix();
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(number.value >> shift);
  return key;
}

Result<CutNumber> decode_cut_key(std::string_view key) {
  if (key.size() != 1 + number_bytes || key.front() != cut_kind)
    return corrupt("the cut log has a row with the key " + hex(key, bytes_shown) + ", which none has");
  std::uint64_t number = 0;
  for (const char byte : key.substr(1)) number = number << 8 | static_cast<unsigned char>(byte);
  return CutNumber{number};
}

std::string epoch_row(Epoch epoch) {
  std::string body{form_version};
  append_fixed(body, epoch.value);
  return sealed(epoch_key(), std::move(body));
}

Result<Epoch> decode_epoch_row(std::string_view row) {
  const auto body = unsealed("epoch", epoch_key(), row);
  if (!body) return refuse(body.error());
  ByteReader reader(*body);
  const auto version = reader.fixed<char>();
  const Epoch epoch{reader.fixed<std::uint64_t>()};
  if (!reader.done() || version != form_version) return damaged_row("epoch", row, "it has not its form");
  return epoch;
}

std::string leader_row(const LeaderRow& leader) {
  std::string body{form_version};
  append_varint(body, leader.epoch.value);
  append_varint(body, leader.beat);
  append_varint(body, leader.address.size());
  body += leader.address;
  return sealed(leader_key(), std::move(body));
}

Result<LeaderRow> decode_leader_row(std::string_view row) {
  const auto body = unsealed("leader", leader_key(), row);
  if (!body) return refuse(body.error());
  ByteReader reader(*body);
  const auto version = reader.fixed<char>();
  LeaderRow leader;
  leader.epoch = Epoch{reader.varint()};
  leader.beat = reader.varint();
  leader.address = std::string(reader.bytes(reader.varint()));
  if (!reader.done() || version != form_version) return damaged_row("leader", row, "it has not its form");
  return leader;
}

std::string leaderships_row(const sharding::Leaderships& leaderships) {
  std::string body{form_version};
  append_varint(body, leaderships.size());
  for (const auto& led : leaderships) {
    append_varint(body, led.epoch.value);
    body.append(reinterpret_cast<const char*>(led.identity.bytes.data()), led.identity.bytes.size());
  }
  return sealed(leaderships_key(), std::move(body));
}

Result<sharding::Leaderships> decode_leaderships_row(std::string_view row) {
  const auto body = unsealed("list of who led", leaderships_key(), row);
  if (!body) return refuse(body.error());
  ByteReader reader(*body);
  const auto version = reader.fixed<char>();
  sharding::Leaderships leaderships;
  for (auto left = reader.varint(body->size()); left != 0; --left) {
    auto& led = leaderships.emplace_back();
    led.epoch = Epoch{reader.varint()};
    for (auto& byte : led.identity.bytes) byte = reader.fixed<std::uint8_t>();
    if (leaderships.size() > 1 && leaderships[leaderships.size() - 2].epoch >= led.epoch)
      return damaged_row("list of who led", row, "its epochs do not ascend");
  }
  if (!reader.done() || version != form_version) return damaged_row("list of who led", row, "it has not its form");
  return leaderships;
}

namespace {

void put_nodes(std::string& body, const std::vector<std::uint32_t>& nodes) {
  append_varint(body, nodes.size());
  for (const auto node : nodes) append_varint(body, node);
}

/// Returns: whether they ascend.
bool read_nodes(ByteReader& reader, std::size_t most, std::vector<std::uint32_t>& nodes) {
  for (auto left = reader.varint(most); left != 0; --left)
    nodes.push_back(static_cast<std::uint32_t>(reader.varint(std::numeric_limits<std::uint32_t>::max())));
  return std::ranges::is_sorted(nodes);
}

}  // namespace

std::string checkpoint_row(const sharding::CutLogState& checkpoint) {
  const bool replicas =
      std::ranges::any_of(checkpoint.shards, [](const auto& of) { return !of.replicas.nodes.empty(); });
  const bool learned =
      std::ranges::any_of(checkpoint.shards, [](const auto& of) { return !of.replicas.learned.empty(); });
  std::string body{learned ? form_with_learned : replicas ? form_with_replicas : form_without_folded};
  append_varint(body, checkpoint.last_cut.value);
  append_varint(body, checkpoint.watermark.value);
  append_varint(body, checkpoint.shards.size());
  for (const auto& shard : checkpoint.shards) {
    append_varint(body, shard.epoch.value);
    append_varint(body, shard.node);
    append_varint(body, shard.next.value);
    append_varint(body, shard.last_position.value);
    append_varint(body, shard.written.value);
    append_varint(body, shard.losses.size());
    for (const auto& loss : shard.losses) {
      append_varint(body, loss.epoch.value);
      append_varint(body, loss.from.value);
    }
    if (!replicas) continue;
    append_varint(body, shard.replicas.quorum);
    put_nodes(body, shard.replicas.nodes);
    if (learned) put_nodes(body, shard.replicas.learned);
  }
  return sealed(checkpoint_key(), std::move(body));
}

Result<sharding::CutLogState> decode_checkpoint_row(std::string_view row, std::uint32_t shards) {
  const auto body = unsealed("checkpoint", checkpoint_key(), row);
  if (!body) return refuse(body.error());
  ByteReader reader(*body);
  const auto form = reader.fixed<char>();
  if (form != form_version && form != form_with_losses && form != form_without_folded && form != form_with_replicas &&
      form != form_with_learned)
    return damaged_row("checkpoint", row, "it has not its form");
  sharding::CutLogState checkpoint(shards);
  checkpoint.last_cut = CutNumber{reader.varint()};
  checkpoint.watermark = GlobalPosition{reader.varint()};
  if (const auto count = reader.varint(); count != shards)
    return damaged_row("checkpoint", row,
                       "it has " + std::to_string(count) + " shards, the cluster " + std::to_string(shards));
  for (auto& shard : checkpoint.shards) {
    shard.epoch = Epoch{reader.varint()};
    shard.node = static_cast<std::uint32_t>(reader.varint(std::numeric_limits<std::uint32_t>::max()));
    shard.next = ShardOffset{reader.varint()};
    shard.last_position = GlobalPosition{reader.varint()};
    shard.written = Epoch{reader.varint()};
    // Of earlier forms, and not used any more; that it can be read is looked at behind all of them.
    if (form == form_version || form == form_with_losses) static_cast<void>(reader.varint());
    if (form == form_version) continue;
    for (auto left = reader.varint(body->size()); left != 0; --left) {
      const Epoch epoch{reader.varint()};
      shard.losses.push_back({epoch, ShardOffset{reader.varint()}});
    }
    if (form != form_with_replicas && form != form_with_learned) continue;
    shard.replicas.quorum = static_cast<std::uint32_t>(reader.varint(std::numeric_limits<std::uint32_t>::max()));
    if (!read_nodes(reader, body->size(), shard.replicas.nodes) ||
        (form == form_with_learned && !read_nodes(reader, body->size(), shard.replicas.learned)))
      return damaged_row("checkpoint", row, "its nodes do not ascend");
  }
  if (!reader.done()) return damaged_row("checkpoint", row, "it has not its size");
  return checkpoint;
}

std::string cut_row(const sharding::Cut& cut) { return sealed(cut_key(cut.number), encode(cut)); }

Result<sharding::Cut> decode_cut_row(CutNumber number, std::string_view row) {
  const auto name = "cut " + std::to_string(number.value);
  const auto body = unsealed(name, cut_key(number), row);
  if (!body) return refuse(body.error());
  auto cut = sharding::decode_cut(*body);
  if (!cut) return damaged_row(name, row, cut.error().what);
  if (cut->number != number) return damaged_row(name, row, "it holds cut " + std::to_string(cut->number.value));
  return cut;
}

}  // namespace evershard::storage::cut_log_rows
