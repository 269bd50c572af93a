#include "evershard/storage/journal/identity.hpp"

#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/stored_id.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {
namespace {

Refused corrupt_identity(std::string_view bytes, const std::string& why) {
  return refuse(ErrorCode::corruption, "the store's identity is damaged: " + why + ", in " + hex(bytes, 128));
}

}  // namespace

std::string encode(const Identity& identity) {
  std::string out;
  append_fixed(out, identity.format);
  append_id(out, identity.store);
  append_id(out, identity.fork);
  append_fixed(out, identity.shards);
  append_fixed(out, identity.hash);
  append_fixed(out, identity.term_key);
  append_fixed(out, identity.created_at.micros);
  if (identity.format > format_of_whole_store) append_fixed(out, identity.node);
  append_fixed(out, checksum(out));
  return out;
}

Result<Identity> decode_identity(std::string_view bytes) {
  // Every format begins with its number and ends with the checksum: so a damaged row is never taken for a newer format.
  constexpr std::size_t frame = sizeof(std::uint32_t) + sizeof(std::uint64_t);
  if (bytes.size() < frame) return corrupt_identity(bytes, std::to_string(bytes.size()) + " bytes are too few");
  const std::string_view covered = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
  if (checksum(covered) != get_fixed<std::uint64_t>(covered.data() + covered.size())) {
    return corrupt_identity(bytes, "its checksum does not match");
  }

  ByteReader reader(covered);
  Identity identity;
  identity.format = reader.fixed<std::uint32_t>();
  if (identity.format > format_version) {
    return refuse(ErrorCode::invalid_argument, "the store has format " + std::to_string(identity.format) +
                                                   ", this program knows formats up to " +
                                                   std::to_string(format_version) + ": open it with a newer one");
  }
  identity.store = take_id(reader);
  identity.fork = take_id(reader);
  identity.shards = reader.fixed<std::uint32_t>();
  identity.hash = reader.fixed<std::uint32_t>();
  identity.term_key = reader.fixed<std::uint64_t>();
  identity.created_at.micros = reader.fixed<std::int64_t>();
  if (identity.format > format_of_whole_store) identity.node = reader.fixed<std::uint32_t>();
  if (!reader.done()) return corrupt_identity(bytes, std::to_string(bytes.size()) + " bytes are not its size");
  if (identity.format == 0) return corrupt_identity(bytes, "there is no format 0");
  if ((identity.format > format_of_whole_store) != (identity.node != 0)) {
    return corrupt_identity(
        bytes, "format " + std::to_string(identity.format) + " does not go with node " + std::to_string(identity.node));
  }
  if (identity.shards == 0 || identity.shards > shards_max) {
    return corrupt_identity(bytes, std::to_string(identity.shards) + " is no count of shards");
  }
  return identity;
}

}  // namespace evershard::storage
