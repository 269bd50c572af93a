#include "evershard/actors/core/recent.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "evershard/protocol/check.hpp"

namespace evershard::actors {

namespace {
constexpr std::size_t texts_bytes_max = 16u << 20;
}

Recent::Recent(GlobalPosition from, std::size_t entries_max, std::uint64_t key)
    : entries_max_(std::max<std::size_t>(entries_max, 1)), key_(key) {
  for (auto& generation : generations_) generation.from = from;
}

// Under one hash there may be several streams: only the text tells.
Recent::Head* Recent::Generation::find_head(sharding::Term stream, std::string_view text) {
  return heads.find(stream, [&](const Head& h) {
    return h.stream == stream && std::string_view(texts).substr(h.text_begin, h.text_size) == text;
  });
}

std::optional<Recent::DecidedHead> Recent::head(sharding::Term stream, std::string_view text) {
  for (const std::size_t generation : {newer_, 1 - newer_}) {
    if (const Head* found = generations_[generation].find_head(stream, text)) return found->head;
  }
  return std::nullopt;
}

void Recent::set_head(sharding::Term stream, std::string_view text, const DecidedHead& head) {
  Generation& generation = newer();
  if (Head* found = generation.find_head(stream, text)) {
    found->head = head;
    return;
  }
  EVERSHARD_CHECK(generation.texts.size() + text.size() <= std::numeric_limits<std::uint32_t>::max(),
                  "a generation's texts fit");
  generation.heads.add(
      {stream, static_cast<std::uint32_t>(generation.texts.size()), static_cast<std::uint32_t>(text.size()), head});
  generation.texts.append(text);
}

std::uint64_t Recent::hash_of(const EventId& id) const {
  std::uint64_t a = 0, b = 0;
  std::memcpy(&a, id.bytes.data(), 8);
  std::memcpy(&b, id.bytes.data() + 8, 8);
  const auto product =
      static_cast<unsigned __int128>(a ^ key_) * (b ^ (key_ << 32 | key_ >> 32) ^ 0x9E3779B97F4A7C15ull);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class Is>
std::optional<GlobalPosition> Recent::find_id(const EventId& id, Is is) {
  const std::uint64_t hash = hash_of(id);
  for (auto& generation : generations_) {
    if (const Id* found = generation.ids.find(hash, is); found != nullptr) return found->append_ends;
  }
  return std::nullopt;
}

std::optional<GlobalPosition> Recent::find(const EventId& id, ShardId shard) {
  return find_id(id, [&](const Id& i) { return i.id == id && i.shard == shard; });
}

std::optional<GlobalPosition> Recent::find(const EventId& id) {
  return find_id(id, [&](const Id& i) { return i.id == id; });
}

void Recent::add(const EventId& id, ShardId shard, GlobalPosition append_ends) {
  newer().ids.add({id, hash_of(id), shard, append_ends});
}

void Recent::forget(GlobalPosition decided, GlobalPosition shown) {
  const Generation& full = newer();
  if (full.entries() < entries_max_ && full.texts.size() < texts_bytes_max) return;
  // The floor will be where the full one begins. Who is sent back from below it must find a view at or above it.
  if (full.from > shown) return;
  newer_ = 1 - newer_;
  Generation& empty = newer();
  empty.heads.clear();
  empty.ids.clear();
  empty.texts.clear();
  empty.from = decided;
}

}  // namespace evershard::actors
