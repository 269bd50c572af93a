#include "evershard/services/rows/projection_checkpoint.hpp"

#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint8_t without_event = 1;  // formats
constexpr std::uint8_t with_event = 2;
constexpr std::size_t checkpoint_head = 1 + 16 + 16 + 8 + 8 + 1;  // format, store, fork, position, definition, complete

void append_id(std::string& out, const EventId& id) {
  out.append(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
}

EventId id_at(const char* at) {
  EventId id;
  std::memcpy(id.bytes.data(), at, id.bytes.size());
  return id;
}

}  // namespace

std::string encode(const ProjectionCheckpoint& checkpoint, const ProjectionOwner& owner) {
  std::string out;
  const bool has_event = checkpoint.event != EventId{};
  out.reserve(checkpoint_head + checkpoint.event.bytes.size() + checkpoint.state.size() + sizeof(std::uint64_t));
  out += static_cast<char>(has_event ? with_event : without_event);
  append_id(out, owner.store);
  append_id(out, owner.fork);
  append_fixed(out, checkpoint.position.value);
  append_fixed(out, checkpoint.definition);
  out += checkpoint.complete ? '\1' : '\0';
  if (has_event) append_id(out, checkpoint.event);
  out += checkpoint.state;
  append_fixed(out, storage::checksum(out));
  return out;
}

Result<OwnedCheckpoint> decode_checkpoint(std::string_view bytes) {
  constexpr auto sum = sizeof(std::uint64_t);
  if (bytes.size() < checkpoint_head + sum) return corrupt("a projection's checkpoint is cut short");
  const auto body = bytes.substr(0, bytes.size() - sum);
  if (get_fixed<std::uint64_t>(bytes.data() + body.size()) != storage::checksum(body))
    return corrupt("a projection's checkpoint does not have its checksum");
  const auto format = static_cast<std::uint8_t>(body[0]);
  if (format != without_event && format != with_event)
    return corrupt("a projection's checkpoint has a format that is not known");
  const auto head = checkpoint_head + (format == with_event ? EventId{}.bytes.size() : 0);
  if (body.size() < head) return corrupt("a projection's checkpoint is cut short");
  const auto* at = body.data() + 1;
  OwnedCheckpoint found;
  found.owner = {id_at(at), id_at(at + 16)};
  found.checkpoint.position = GlobalPosition{get_fixed<std::uint64_t>(at + 32)};
  found.checkpoint.definition = get_fixed<std::uint64_t>(at + 40);
  found.checkpoint.complete = at[48] != 0;
  if (format == with_event) found.checkpoint.event = id_at(body.data() + checkpoint_head);
  found.checkpoint.state = body.substr(head);
  return found;
}

}  // namespace evershard::storage
