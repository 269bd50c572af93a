#include "evershard/services/indexes/projection_rows.hpp"

#include <algorithm>
#include <utility>

namespace evershard::actors {
namespace {

constexpr std::size_t fetched_at_once = 512;
constexpr std::size_t fetched_bytes_max = 16u << 20;
constexpr std::size_t row_overhead_bytes = 128;  ///< of its places, the two strings and what allocating them takes

}  // namespace

ProjectionRows::ProjectionRows(const storage::ProjectionStore& store, std::string family,
                               const storage::ProjectionCheckpoint& base)
    : store_(store), family_(std::move(family)), state_(base.state) {}

Result<const storage::ProjectionView*> ProjectionRows::view() {
  if (!view_) {
    auto opened = store_.view(family_);
    if (!opened) return refuse(std::move(opened).error());
    view_ = *std::move(opened);
  }
  return view_.get();
}

HeldRow& ProjectionRows::row(std::string key, bool stored) {
  const auto [row, made] = rows_.put(std::move(key));
  if (made) {
    row->stored = stored;
    bytes_ += row->key.size() + row_overhead_bytes;
  }
  return *row;
}

void ProjectionRows::give(HeldRow& row, std::optional<std::string> value) {
  bytes_ -= row.value ? row.value->size() : 0;
  row.value = std::move(value);
  bytes_ += row.value ? row.value->size() : 0;
}

void ProjectionRows::change(HeldRow& row, std::optional<std::string> value) {
  give(row, std::move(value));
  row.changed = true;
}

void ProjectionRows::put(std::string key, std::string value) { change(row(std::move(key), true), std::move(value)); }

void ProjectionRows::put_new(std::string key, std::string value) {
  change(row(std::move(key), false), std::move(value));
}

void ProjectionRows::erase(std::string_view key) {
  auto* known = rows_.find(key);
  if (!known) return change(row(std::string(key), true), std::nullopt);
  if (known->stored) return change(*known, std::nullopt);
  give(*known, std::nullopt);
  bytes_ -= known->key.size() + row_overhead_bytes;
  rows_.erase(key);
}

Result<std::optional<std::string>> ProjectionRows::get(std::string_view key) {
  if (const auto* known = rows_.find(key)) return known->value;
  const auto rows = view();
  if (!rows) return refuse(rows.error());
  return (*rows)->get(key);
}

Result<void> ProjectionRows::fetch(std::vector<std::string> keys) {
  std::erase_if(keys, [&](const std::string& key) { return rows_.find(key) != nullptr; });
  if (keys.empty()) return {};
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const auto rows = view();
  if (!rows) return refuse(rows.error());
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < keys.size() && bytes < fetched_bytes_max; at += fetched_at_once) {
    const auto some = std::span(keys).subspan(at, std::min(fetched_at_once, keys.size() - at));
    auto found = (*rows)->get_many(some);
    if (!found) return refuse(std::move(found).error());
    for (std::size_t i = 0; i < some.size(); ++i) {
      if ((*found)[i]) bytes += (*found)[i]->size();
      const bool stored = (*found)[i].has_value();
      give(row(std::move(some[i]), stored), std::move((*found)[i]));
    }
  }
  return {};
}

Result<std::vector<std::optional<std::string>>> ProjectionRows::get_many(std::span<const std::string> keys) {
  std::vector<std::optional<std::string>> found(keys.size());
  std::vector<std::string> unknown;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const auto* known = rows_.find(keys[i])) {
      found[i] = known->value;
    } else {
      unknown.push_back(keys[i]);
      places.push_back(i);
    }
  }
  if (unknown.empty()) return found;
  const auto rows = view();
  if (!rows) return refuse(rows.error());
  auto stored = (*rows)->get_many(unknown);
  if (!stored) return stored;
  for (std::size_t i = 0; i < places.size(); ++i) found[places[i]] = std::move((*stored)[i]);
  return found;
}

Result<void> ProjectionRows::each(const storage::RowRange& range,
                                  const std::function<bool(std::string_view, std::string_view)>& see) {
  if (!range.until.empty() && range.until <= range.from) return {};
  const auto rows = view();
  if (!rows) return refuse(rows.error());
  std::vector<const HeldRow*> known;
  for (const auto& row : rows_.all()) {
    if (row.key >= range.from && (range.until.empty() || row.key < range.until)) known.push_back(&row);
  }
  std::ranges::sort(known, {}, [](const HeldRow* row) -> const std::string& { return row->key; });
  auto next = known.begin();
  const auto stored = (*rows)->cursor(range);
  bool more = stored->next();
  while (more || next != known.end()) {
    if (next != known.end() && (!more || std::string_view((*next)->key) <= stored->key())) {
      const auto& row = **next++;
      if (more && row.key == stored->key()) more = stored->next();
      if (row.value && !see(row.key, *row.value)) return {};
    } else {
      if (!see(stored->key(), stored->value())) return {};
      more = stored->next();
    }
  }
  if (stored->error()) return refuse(*stored->error());
  return {};
}

storage::ProjectionChanges ProjectionRows::take() {
  rest();                         // before the write: a store in memory copies what somebody looks at
  std::vector<HeldRow*> changed;  // sorted where they lie: moving a row costs more than looking at it
  changed.reserve(rows_.size());
  for (auto& row : rows_.all()) {
    if (row.changed) changed.push_back(&row);
  }
  std::ranges::sort(changed, {}, [](const HeldRow* row) -> const std::string& { return row->key; });
  storage::ProjectionChanges changes;
  changes.rows.reserve(changed.size());
  for (auto* row : changed) changes.rows.push_back({std::move(row->key), std::move(row->value)});
  rows_.clear();
  bytes_ = 0;
  return changes;
}

}  // namespace evershard::actors
