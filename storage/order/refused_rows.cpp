#include "evershard/storage/order/refused_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "evershard/protocol/hex.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

constexpr std::string_view refused_name = "$refused/";
constexpr std::size_t digits = 20;  ///< of any number, so that the rows lie in the order of their cuts

}  // namespace

std::string refused_prefix() { return keys::checkpoint(refused_name); }

std::string refused_key(CutNumber cut) {
  const auto number = std::to_string(cut.value);
  return keys::checkpoint(std::string(refused_name) + std::string(digits - number.size(), '0') + number);
}

std::string refused_row(const sharding::Cut& cut) {
  std::string body;
  sharding::encode(cut, body);
  append_fixed(body, checksum(refused_key(cut.number) + body));
  return body;
}

Result<sharding::Cut> decode_refused(std::string_view key, std::string_view bytes) {
  const auto body = bytes.substr(0, bytes.size() - std::min(bytes.size(), sizeof(std::uint64_t)));
  auto cut = sharding::decode_cut(body, sharding::CutOf::node);
  if (!cut || key != refused_key(cut->number) || cut->events() != 0 ||
      checksum(std::string(key) + std::string(body)) != get_fixed<std::uint64_t>(body.data() + body.size()))
    return corrupt("a row of what cuts refused is damaged: " + hex(bytes, 64));
  return *std::move(cut);
}

Result<RefusedRows> refused_rows(const Rows& rows, const std::map<ShardId, Covered>& covered) {
  RefusedRows found;
  const auto prefix = refused_prefix();
  auto cursor = rows.cursor(Family::state, {.prefix = prefix});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    auto cut = decode_refused(cursor->key(), cursor->value());
    if (!cut) return refuse(std::move(cut).error());
    found.keys.emplace_back(cursor->key());
    for (auto& segment : cut->segments) {
      const auto here = covered.find(segment.shard);
      if (here != covered.end() && segment.end <= here->second.end) found.segments.push_back(std::move(segment));
    }
  }
  EVERSHARD_TRY(cursor->status());
  return found;
}

}  // namespace evershard::storage
