#include "evershard/storage/journal/snapshot_difference.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t block_bytes = 32;  ///< a shorter stretch is not looked for
constexpr std::uint64_t rolling_factor = 0x9e3779b97f4a7c15;

constexpr std::uint64_t factor_of_the_first() {
  std::uint64_t factor = 1;
  for (std::size_t i = 1; i < block_bytes; ++i) factor *= rolling_factor;
  return factor;
}
constexpr std::uint64_t factor_of_first = factor_of_the_first();

std::uint64_t byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]) + 1u; }

std::uint64_t hash_of_block(std::string_view bytes, std::size_t from) {
  std::uint64_t hash = 0;
  for (std::size_t i = from; i != from + block_bytes; ++i) hash = hash * rolling_factor + byte_at(bytes, i);
  return hash;
}

/// Where in the base a block begins that has this hash. Of several, the first.
class BlocksOfBase {
 public:
  explicit BlocksOfBase(std::string_view base)
      : shift_(64 - std::bit_width(base.size() / block_bytes * 2 + 1)), places_(std::size_t{1} << (64 - shift_)) {
    for (std::size_t from = 0; from + block_bytes <= base.size(); from += block_bytes) {
      auto& place = places_[slot_of(hash_of_block(base, from))];
      if (place == 0) place = from + 1;
    }
  }
  [[nodiscard]] std::optional<std::size_t> find(std::uint64_t hash) const {
    const auto place = places_[slot_of(hash)];
    return place == 0 ? std::nullopt : std::optional(place - 1);
  }

 private:
  [[nodiscard]] std::size_t slot_of(std::uint64_t hash) const {
    return static_cast<std::size_t>((hash ^ hash >> 29) * 0xbf58476d1ce4e5b9 >> shift_);
  }
  const int shift_;
  std::vector<std::size_t> places_;
};

std::size_t alike(std::string_view a, std::string_view b) {
  const auto most = std::min(a.size(), b.size());
  std::size_t n = 0;
  while (n < most && a[n] == b[n]) ++n;
  return n;
}

Refused damaged_difference(std::string_view why) {
  return refuse(ErrorCode::corruption, "a difference between two states is damaged: " + std::string(why));
}

}  // namespace

std::optional<std::string> state_difference(std::string_view base, std::string_view state, std::size_t bytes_max) {
  std::string difference;
  std::size_t told = 0;         // of the state
  std::size_t base_behind = 0;  // the last stretch
  const auto tell = [&](std::size_t until, std::size_t from, std::size_t bytes) {
    append_varint(difference, until - told);
    difference += state.substr(told, until - told);
    append_varint(difference, zigzag(from - base_behind));
    append_varint(difference, bytes);
    told = until + bytes;
    base_behind = from + bytes;
  };
  if (const auto front = alike(base, state); front != 0) tell(0, 0, front);

  const BlocksOfBase blocks(base);
  std::uint64_t hash = 0;
  bool hashed = false;
  for (auto at = told; at + block_bytes <= state.size();) {
    if (difference.size() + (at - told) > bytes_max) return std::nullopt;
    if (!hashed) hash = hash_of_block(state, at);
    hashed = true;
    const auto found = blocks.find(hash);
    if (found && state.compare(at, block_bytes, base, *found, block_bytes) == 0) {
      std::size_t before = 0;
      while (before < at - told && before < *found && state[at - before - 1] == base[*found - before - 1]) ++before;
      const auto from = *found - before;
      tell(at - before, from, alike(base.substr(from), state.substr(at - before)));
      at = told;
      hashed = false;
      continue;
    }
    if (at + block_bytes == state.size()) break;
    hash = (hash - byte_at(state, at) * factor_of_first) * rolling_factor + byte_at(state, at + block_bytes);
    ++at;
  }
  if (told != state.size()) tell(state.size(), base_behind, 0);
  if (difference.size() > bytes_max) return std::nullopt;
  return difference;
}

Result<std::string> state_from_difference(std::string_view base, std::string_view difference, std::size_t bytes_max) {
  ByteReader reader(difference);
  std::string state;
  std::size_t base_behind = 0;
  while (reader.left() != 0) {
    const auto own = reader.bytes(reader.varint());
    const std::uint64_t from = base_behind + unzigzag(reader.varint());
    const auto bytes = reader.varint();
    if (!reader.ok()) return damaged_difference("its parts do not fit");
    if (from > base.size() || bytes > base.size() - from) return damaged_difference("it goes beyond its base");
    if (own.size() > bytes_max - state.size() || bytes > bytes_max - state.size() - own.size())
      return damaged_difference("the state that it is for is too long");
    state += own;
    state += base.substr(from, bytes);
    base_behind = from + bytes;
  }
  if (!reader.done()) return damaged_difference("its parts do not fit");
  return state;
}

}  // namespace evershard::storage
