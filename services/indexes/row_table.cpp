#include "evershard/services/indexes/row_table.hpp"

#include <algorithm>

namespace evershard::actors {
namespace {

constexpr std::size_t places_first = 64;
constexpr std::size_t places_kept =
    1'024;  ///< enough for a page of newest events; what was gathered takes more, and is given back

}  // namespace

/// The place of the key, or the empty place where it would go. There is always an empty place.
std::size_t RowTable::place_of(std::string_view key, std::uint32_t hash) const {
  const std::size_t mask = places_.size() - 1;
  std::size_t at = hash & mask;
  while (places_[at].row != none && !(places_[at].hash == hash && rows_[places_[at].row].key == key))
    at = (at + 1) & mask;
  return at;
}

HeldRow* RowTable::find(std::string_view key) {
  if (rows_.empty()) return nullptr;
  const auto& place = places_[place_of(key, hash_of(key))];
  return place.row == none ? nullptr : &rows_[place.row];
}

std::pair<HeldRow*, bool> RowTable::put(std::string key) {
  if (2 * (size() + 1) > places_.size()) grow();
  const auto hash = hash_of(key);
  auto& place = places_[place_of(key, hash)];
  if (place.row != none) return {&rows_[place.row], false};
  place = {hash, static_cast<std::uint32_t>(rows_.size())};
  return {&rows_.emplace_back(HeldRow{.key = std::move(key)}), true};
}

void RowTable::erase(std::string_view key) {
  if (rows_.empty()) return;
  const std::size_t mask = places_.size() - 1;
  std::size_t hole = place_of(key, hash_of(key));
  if (places_[hole].row == none) return;
  // The last row takes the place of the one that goes.
  const auto row = places_[hole].row;
  const auto& last = rows_.back().key;
  places_[place_of(last, hash_of(last))].row = row;
  if (row + 1 != rows_.size()) rows_[row] = std::move(rows_.back());
  rows_.pop_back();
  // Whoever stands behind the hole and began at or before it moves up, so that no line is broken.
  for (std::size_t at = (hole + 1) & mask; places_[at].row != none; at = (at + 1) & mask) {
    if (((at - places_[at].hash) & mask) >= ((at - hole) & mask)) {
      places_[hole] = places_[at];
      hole = at;
    }
  }
  places_[hole] = {};
}

void RowTable::grow() {
  std::vector<Place> before(places_.empty() ? places_first : 2 * places_.size());
  places_.swap(before);
  const std::size_t mask = places_.size() - 1;
  for (const auto& place : before) {
    if (place.row == none) continue;
    std::size_t at = place.hash & mask;
    while (places_[at].row != none) at = (at + 1) & mask;
    places_[at] = place;
  }
}

void RowTable::clear() {
  if (places_.size() > places_kept) {
    std::vector<Place>().swap(places_);  // an assignment of nothing keeps the memory
    std::vector<HeldRow>().swap(rows_);
    return;
  }
  std::ranges::fill(places_, Place{});
  rows_.clear();
}

}  // namespace evershard::actors
