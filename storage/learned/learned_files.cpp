#include "evershard/storage/learned/learned_files.hpp"

#include <charconv>

#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage::learned_files {
namespace {

constexpr char form = 1;
constexpr std::string_view journal_prefix = "shard-";
constexpr std::string_view table_suffix = ".sst";

}  // namespace

std::filesystem::path folder(const std::filesystem::path& data_dir) { return data_dir / "learned"; }

std::string name_of(const Journal& journal) {
  return std::string(journal_prefix) + std::to_string(journal.shard.value) + "-" + std::to_string(journal.first.value) +
         "-" + std::to_string(journal.end.value) + std::string(table_suffix);
}

std::optional<Journal> journal_named(const std::string& name) {
  if (!name.starts_with(journal_prefix) || !name.ends_with(table_suffix)) return std::nullopt;
  std::uint64_t numbers[3] = {};
  const char* at = name.data() + journal_prefix.size();
  const char* const end = name.data() + name.size() - table_suffix.size();
  for (std::size_t n = 0; n != 3; ++n) {
    const auto [behind, error] = std::from_chars(at, end, numbers[n]);
    if (error != std::errc() || (n != 2 && (behind == end || *behind != '-'))) return std::nullopt;
    at = n == 2 ? behind : behind + 1;
  }
  if (at != end || numbers[0] >= 65'535 || numbers[1] == 0 || numbers[2] <= numbers[1]) return std::nullopt;
  return Journal{ShardId{static_cast<std::uint16_t>(numbers[0])}, ShardOffset{numbers[1]}, ShardOffset{numbers[2]}};
}

std::string order_name(std::size_t number) { return "order-" + std::to_string(number) + std::string(table_suffix); }

std::string encode(const LearnedOrder& order) {
  std::string body(1, form);
  append_varint(body, order.last_cut.value);
  append_varint(body, order.watermark.value);
  append_varint(body, order.coordinator.value);
  append_varint(body, order.shards.size());
  for (const auto& shard : order.shards) {
    append_varint(body, shard.shard.value);
    append_varint(body, shard.end.value);
    append_varint(body, shard.settled.value);
    append_varint(body, shard.epoch.value);
    append_varint(body, shard.followed.value);
    append_varint(body, shard.learned ? 1 : 0);
  }
  sharding::Cut refused{order.last_cut, order.coordinator, order.watermark + 1, order.refused, {}};
  const auto cut = sharding::encode(refused);
  append_varint(body, cut.size());
  body += cut;
  append_fixed(body, checksum(body));
  return body;
}

Result<LearnedOrder> decode(std::string_view bytes) {
  const auto damaged = [] {
    return corrupt(std::string("the file ") + whole_name + " of what was learned is damaged");
  };
  if (bytes.size() < sizeof(std::uint64_t)) return damaged();
  const auto body = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
  if (checksum(std::string(body)) != get_fixed<std::uint64_t>(body.data() + body.size())) return damaged();
  ByteReader reader(body);
  const auto version = reader.fixed<char>();
  LearnedOrder order;
  order.last_cut = CutNumber{reader.varint()};
  order.watermark = GlobalPosition{reader.varint()};
  order.coordinator = Epoch{reader.varint()};
  for (auto left = reader.varint(body.size()); left != 0; --left) {
    auto& shard = order.shards.emplace_back();
    shard.shard = ShardId{static_cast<std::uint16_t>(reader.varint(65'535))};
    shard.end = ShardOffset{reader.varint()};
    shard.settled = ShardOffset{reader.varint()};
    shard.epoch = Epoch{reader.varint()};
    shard.followed = Epoch{reader.varint()};
    shard.learned = reader.varint(1) == 1;
  }
  auto refused = sharding::decode_cut(reader.bytes(reader.varint(body.size())), sharding::CutOf::node);
  if (!reader.done() || version != form || !refused) return damaged();
  order.refused = std::move(refused->segments);
  return order;
}

}  // namespace evershard::storage::learned_files
