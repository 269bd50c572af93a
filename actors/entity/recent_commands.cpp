#include "evershard/actors/entity/recent_commands.hpp"

#include <functional>
#include <utility>

namespace evershard::actors {
namespace {

constexpr std::size_t slots_at_first = 64;

std::size_t home(std::uint64_t hash, std::size_t slots) {
  return static_cast<std::size_t>((hash * 0x9E3779B97F4A7C15ull) >> 32) & (slots - 1);
}

}  // namespace

RecentCommands::RecentCommands(std::size_t ids_max) : ids_max_(ids_max) {}

std::uint64_t RecentCommands::hash(std::uint64_t aggregate_hash, std::string_view command_id) {
  const std::uint64_t mixed = aggregate_hash * 0x9E3779B97F4A7C15ull ^ std::hash<std::string_view>{}(command_id);
  return mixed != 0 ? mixed : 1;
}

void RecentCommands::add(std::uint64_t hash) {
  if (generations_[newer_].contains(hash)) return;
  if (generations_[newer_].used == ids_max_) {
    newer_ = 1 - newer_;
    generations_[newer_] = {};
  }
  generations_[newer_].add(hash);
}

bool RecentCommands::Generation::contains(std::uint64_t hash) const {
  if (slots.empty()) return false;
  for (std::size_t i = home(hash, slots.size()); slots[i] != 0; i = (i + 1) & (slots.size() - 1)) {
    if (slots[i] == hash) return true;
  }
  return false;
}

void RecentCommands::Generation::put(std::uint64_t hash) {
  std::size_t i = home(hash, slots.size());
  while (slots[i] != 0) i = (i + 1) & (slots.size() - 1);
  slots[i] = hash;
}

void RecentCommands::Generation::add(std::uint64_t hash) {
  if ((used + 1) * 2 > slots.size()) {
    const auto smaller =
        std::exchange(slots, std::vector<std::uint64_t>(slots.empty() ? slots_at_first : slots.size() * 2));
    for (const std::uint64_t known : smaller) {
      if (known != 0) put(known);
    }
  }
  put(hash);
  ++used;
}

}  // namespace evershard::actors
