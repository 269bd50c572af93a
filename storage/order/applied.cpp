#include "evershard/storage/order/applied.hpp"

#include <algorithm>

namespace evershard::storage {
namespace {

constexpr std::size_t applied_head_bytes = 1 + 3 * 8;
constexpr std::size_t epoch_bytes = 2 + 8;
constexpr std::size_t covered_bytes = 1 + 8;
constexpr std::size_t followed_bytes = 1 + 2 * 8;
constexpr std::size_t lost_range_bytes = 5 * 8;
constexpr std::size_t lost_range_bytes_before = 4 * 8;  // in rows of version 2

template <class Int>
void put(std::string& out, Int value) {
  for (int shift = static_cast<int>(sizeof(Int)) * 8 - 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(value >> shift));
}

template <class Int>
Int take(std::string_view& bytes) {
  Int value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i)
    value = static_cast<Int>(value << 8 | static_cast<unsigned char>(bytes[i]));
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
    return refuse(ErrorCode::corruption,
                  "state row \"applied\" has " + std::to_string(bytes.size()) + " bytes of no known form");
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
    if (!segment.is_elsewhere() && (segment.epoch != Epoch{1} || !epochs.empty()))
      take_epoch(segment.shard, segment.epoch);
  for (const auto& opening : cut.openings) take_epoch(opening.shard, opening.epoch);
}

bool Covered::has_placed(ShardOffset from) const {
  auto by_from = lost;
  std::ranges::sort(by_from, {}, &LostRange::from);
  for (const auto& range : by_from) {
    if (from < std::min(range.from, end)) return true;
    from = std::max(from, range.until);
  }
  return from < end;
}

std::string encode_covered(const Covered& covered) {
  if (covered.followed.value != 0 || covered.settled.value != 0) {
    auto rest = covered;
    rest.followed = Epoch{};
    rest.settled = ShardOffset{0};
    std::string out(1, '\4');
    put(out, covered.followed.value);
    put(out, covered.settled.value);
    return out + encode_covered(rest);
  }
  const bool plain = !covered.damaged && covered.lost.empty();
  std::string out(1, plain ? '\1' : covered.lost.empty() ? '\2' : '\3');
  put(out, covered.end.value);
  if (plain) return out;
  out.push_back(covered.damaged ? '\1' : '\0');
  put(out, covered.whole_to.value);
  if (covered.lost.empty()) return out;
  put(out, covered.gone_from.value);
  for (const auto& lost : covered.lost) {
    put(out, lost.from.value);
    put(out, lost.until.value);
    put(out, lost.after.value);
    put(out, lost.up_to.value);
    put(out, lost.epoch.value);
  }
  return out;
}

Result<Covered> decode_covered(std::string_view bytes) {
  const auto malformed = [size = bytes.size()] {
    return refuse(ErrorCode::corruption,
                  "state row \"covered\" has " + std::to_string(size) + " bytes of no known form");
  };
  Covered covered;
  if (bytes.size() < covered_bytes) return malformed();
  if (bytes.front() == '\4') {
    if (bytes.size() < followed_bytes + covered_bytes || bytes[followed_bytes] == '\4') return malformed();
    bytes.remove_prefix(1);
    const Epoch followed{take<std::uint64_t>(bytes)};
    const ShardOffset settled{take<std::uint64_t>(bytes)};
    auto rest = decode_covered(bytes);  // whatever is wrong, the whole row is shown
    if (!rest || (followed.value == 0 && settled.value == 0)) return malformed();
    rest->followed = followed;
    rest->settled = settled;
    return rest;
  }
  const char version = bytes.front();
  bytes.remove_prefix(1);
  covered.end = ShardOffset{take<std::uint64_t>(bytes)};
  if (version == '\1' && bytes.empty()) return covered;
  const bool with_epochs = version == '\3';
  const std::size_t head = 1 + 8 + (with_epochs ? 8 : 0);
  if ((version != '\2' && !with_epochs) || bytes.size() < head ||
      (bytes.size() - head) % (with_epochs ? lost_range_bytes : lost_range_bytes_before) != 0 ||
      static_cast<unsigned char>(bytes.front()) > 1)
    return malformed();
  covered.damaged = bytes.front() == '\1';
  bytes.remove_prefix(1);
  covered.whole_to = GlobalPosition{take<std::uint64_t>(bytes)};
  if (with_epochs) covered.gone_from = ShardOffset{take<std::uint64_t>(bytes)};
  if ((!covered.damaged || with_epochs) && bytes.empty()) return malformed();  // it would be of an earlier version
  while (!bytes.empty()) {
    LostRange lost;
    lost.from = ShardOffset{take<std::uint64_t>(bytes)};
    lost.until = ShardOffset{take<std::uint64_t>(bytes)};
    lost.after = GlobalPosition{take<std::uint64_t>(bytes)};
    lost.up_to = GlobalPosition{take<std::uint64_t>(bytes)};
    if (with_epochs) lost.epoch = Epoch{take<std::uint64_t>(bytes)};
    covered.lost.push_back(lost);
  }
  return covered;
}

}  // namespace evershard::storage
