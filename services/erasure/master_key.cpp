#include "evershard/services/erasure/master_key.hpp"

#include <cstring>
#include <optional>
#include <utility>

#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/erasure/key_names.hpp"

namespace evershard::cluster {
namespace {

constexpr std::string_view row_type = "$key-row";  // no event's: `$` is reserved

}  // namespace

Result<MasterKey> MasterKey::parse(std::string_view text) {
  auto bytes = text.size() == 2 * PayloadKey::secret_bytes ? bytes_of_hex(text) : from_base64(text);
  if (!bytes || bytes->size() != PayloadKey::secret_bytes)
    return refuse(ErrorCode::invalid_argument,
                  "a master key is 32 bytes in hex or base64, as `openssl rand -hex 32` makes them");
  KeyId id;
  const auto digest = keyed_digest(*bytes, "evershard master key");
  std::memcpy(id.bytes.data(), digest.data(), id.bytes.size());
  return MasterKey(held_key(id, *std::move(bytes)));
}

std::string MasterKey::seal(std::string_view row, std::string_view bytes) const {
  PlainPayload plain{.subject = {}, .payload = std::string(bytes)};
  auto sealed = seal_payload(*key_, {.aggregate = row, .type = row_type}, {}, plain);
  wipe(plain.payload);
  return sealed;
}

Result<std::string> MasterKey::open(std::string_view row, std::string_view sealed) const {
  const auto by = sealed_by(PayloadFormat::encrypted, sealed);
  if (by && *by != id())
    return refuse(ErrorCode::invalid_argument,
                  "the row " + in_quotes(row, 300) + " was sealed with another master key");
  auto plain = open_payload(*key_, {.aggregate = row, .type = row_type}, sealed);
  if (!plain)
    return refuse(ErrorCode::corruption, "the row " + in_quotes(row, 300) + " is damaged, or was another row's");
  return std::move(plain->payload);
}

}  // namespace evershard::cluster
