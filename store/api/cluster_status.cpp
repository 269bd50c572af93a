#include "evershard/store/api/cluster_status.hpp"

#include <charconv>
#include <limits>

namespace evershard {
namespace {

/// Takes a whole number and the sign behind it off the front; the sign '\0': nothing may follow.
bool take_number(std::string_view& text, char sign, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (sign == '\0') return text.empty();
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string ShardLoss::text() const {
  auto text = std::to_string(shard.value) + ':' + std::to_string(from.value) + '-' + std::to_string(until.value - 1);
  if (unordered != 0) text += '+' + std::to_string(unordered);
  return text;
}

std::optional<ShardLoss> ShardLoss::parse(const std::string& given) {
  std::string_view text = given;
  std::uint64_t shard = 0, first = 0, last = 0, unordered = 0;
  const bool more = text.find('+') != std::string_view::npos;
  if (!take_number(text, ':', shard) || !take_number(text, '-', first) || !take_number(text, more ? '+' : '\0', last))
    return std::nullopt;
  if (more && !take_number(text, '\0', unordered)) return std::nullopt;
  if (shard > std::numeric_limits<std::uint16_t>::max() || first == 0 || last < first ||
      last == std::numeric_limits<std::uint64_t>::max())
    return std::nullopt;
  return ShardLoss{ShardId{static_cast<std::uint16_t>(shard)}, ShardOffset{first}, ShardOffset{last + 1}, unordered};
}

}  // namespace evershard
