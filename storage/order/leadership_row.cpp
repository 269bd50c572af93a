#include "evershard/storage/order/leadership_row.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "evershard/protocol/hex.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

constexpr char leadership_version = 1;
constexpr std::size_t leadership_bytes = 1 + sizeof(std::uint64_t) + 16 + sizeof(std::uint64_t);

}  // namespace

std::string leadership_key() { return keys::checkpoint("$leadership"); }

std::string leadership_row(const sharding::Leadership& applied) {
  std::string body{leadership_version};
  append_fixed(body, applied.epoch.value);
  body.append(reinterpret_cast<const char*>(applied.identity.bytes.data()), applied.identity.bytes.size());
  append_fixed(body, checksum(leadership_key() + body));
  return body;
}

Result<sharding::Leadership> decode_leadership(std::string_view bytes) {
  const auto body = bytes.substr(0, bytes.size() - std::min(bytes.size(), sizeof(std::uint64_t)));
  if (bytes.size() != leadership_bytes || body.front() != leadership_version ||
      checksum(leadership_key() + std::string(body)) != get_fixed<std::uint64_t>(body.data() + body.size()))
    return corrupt("the row of whose cuts were applied last is damaged: " + hex(bytes, leadership_bytes));
  ByteReader reader(body.substr(1));
  sharding::Leadership applied;
  applied.epoch = Epoch{reader.fixed<std::uint64_t>()};
  for (auto& byte : applied.identity.bytes) byte = reader.fixed<std::uint8_t>();
  return applied;
}

Result<std::optional<sharding::Leadership>> applied_leadership(const Rows& rows, Epoch newest) {
  const auto key = leadership_key();
  const std::string_view wanted[] = {key};
  const auto row = rows.get(Family::state, wanted);
  if (!row) return refuse(row.error());
  if (!(*row)->found(0)) return std::optional<sharding::Leadership>();
  auto applied = decode_leadership((*row)->value(0));
  if (!applied) return refuse(std::move(applied).error());
  if (applied->epoch > newest) return std::optional<sharding::Leadership>();
  return std::optional(*applied);
}

}  // namespace evershard::storage
