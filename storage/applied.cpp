#include "evershard/storage/applied.hpp"

#include <algorithm>

namespace evershard::storage {
namespace {

constexpr std::size_t applied_head_bytes = 1 + 3 * 8;
constexpr std::size_t epoch_bytes = 2 + 8;

template <class Int>
void put(std::string& out, Int value) {
  for (int shift = static_cast<int>(sizeof(Int)) * 8 - 8; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

template <class Int>
Int take(std::string_view& bytes) {
  Int value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i) value = static_cast<Int>(value << 8 | static_cast<unsigned char>(bytes[i]));
  bytes.remove_prefix(sizeof(Int));
  return value;
}

}  // namespace

std::string encode(const Applied& applied) {
  std::string out;
  out.reserve(applied_head_bytes + applied.epochs.size() * epoch_bytes);
  out.push_back(1);
  put(out, applied.number.value);
  put(out, applied.watermark.value);
  put(out, applied.coordinator.value);
  for (const auto& [shard, epoch] : applied.epochs) {
    put(out, shard.value);
    put(out, epoch.value);
  }
  return out;
}

Result<Applied> decode_applied(std::string_view bytes) {
  if (bytes.size() < applied_head_bytes || bytes[0] != 1 || (bytes.size() - applied_head_bytes) % epoch_bytes != 0)
    return refuse(ErrorCode::corruption, "state row \"applied\" has " + std::to_string(bytes.size()) + " bytes of no known form");
  bytes.remove_prefix(1);
  Applied applied;
  applied.number = CutNumber{take<std::uint64_t>(bytes)};
  applied.watermark = GlobalPosition{take<std::uint64_t>(bytes)};
  applied.coordinator = Epoch{take<std::uint64_t>(bytes)};
  while (!bytes.empty()) {
    auto shard = ShardId{take<std::uint16_t>(bytes)};
    applied.epochs.emplace_back(shard, Epoch{take<std::uint64_t>(bytes)});
  }
  return applied;
}

void Applied::take(const sharding::Cut& cut) {
  number = cut.number;
  watermark = cut.last_position();
  coordinator = cut.coordinator;
  auto take_epoch = [&](ShardId shard, Epoch epoch) {
    auto at = std::ranges::lower_bound(epochs, shard, {}, [](const auto& entry) { return entry.first; });
    if (at != epochs.end() && at->first == shard)
      at->second = epoch;
    else if (epoch != Epoch{1})
      epochs.emplace(at, shard, epoch);
  };
  for (const auto& segment : cut.segments)
    if (!segment.is_elsewhere() && (segment.epoch != Epoch{1} || !epochs.empty())) take_epoch(segment.shard, segment.epoch);
  for (const auto& opening : cut.openings) take_epoch(opening.shard, opening.epoch);
}

std::string encode_covered(ShardOffset end) {
  std::string out(1, '\1');
  put(out, end.value);
  return out;
}

Result<ShardOffset> decode_covered(std::string_view bytes) {
  if (bytes.size() != 1 + sizeof(ShardOffset::rep) || bytes[0] != 1)
    return refuse(ErrorCode::corruption, "state row \"covered\" has " + std::to_string(bytes.size()) + " bytes of no known form");
  bytes.remove_prefix(1);
  return ShardOffset{take<ShardOffset::rep>(bytes)};
}

}  // namespace evershard::storage
