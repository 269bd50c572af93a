#include "evershard/actors/projection/projection_rows.hpp"

#include <algorithm>
#include <utility>

namespace evershard::actors {
namespace {

constexpr std::size_t fetched_at_once = 512;
constexpr std::size_t fetched_bytes_max = 16u << 20;

}  // namespace

ProjectionRows::ProjectionRows(const storage::ProjectionStore& store, std::string family, const storage::ProjectionCheckpoint& base)
    : store_(store), family_(std::move(family)), state_(base.state) {}

Result<const storage::ProjectionView*> ProjectionRows::view() {
  if (!view_) {
    auto opened = store_.view(family_);
    if (!opened) return refuse(std::move(opened).error());
    view_ = *std::move(opened);
  }
  return view_.get();
}

Result<std::optional<std::string>> ProjectionRows::get(std::string_view key) {
  if (const auto changed = changes_.rows.find(key); changed != changes_.rows.end()) return changed->second;
  if (const auto known = fetched_.find(key); known != fetched_.end()) return known->second;
  const auto rows = view();
  if (!rows) return refuse(rows.error());
  return (*rows)->get(key);
}

Result<void> ProjectionRows::fetch(std::vector<std::string> keys) {
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
      fetched_.insert_or_assign(std::move(some[i]), std::move((*found)[i]));
    }
  }
  return {};
}

Result<std::vector<std::optional<std::string>>> ProjectionRows::get_many(std::span<const std::string> keys) {
  const auto rows = view();
  if (!rows) return refuse(rows.error());
  auto found = (*rows)->get_many(keys);
  if (!found) return found;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const auto changed = changes_.rows.find(keys[i]); changed != changes_.rows.end()) (*found)[i] = changed->second;
  }
  return found;
}

Result<void> ProjectionRows::each(const storage::RowRange& range, const std::function<bool(std::string_view, std::string_view)>& see) {
  if (!range.until.empty() && range.until <= range.from) return {};
  const auto rows = view();
  if (!rows) return refuse(rows.error());
  auto changed = changes_.rows.lower_bound(range.from);
  const auto end = range.until.empty() ? changes_.rows.end() : changes_.rows.lower_bound(range.until);
  const auto stored = (*rows)->cursor(range);
  bool more = stored->next();
  while (more || changed != end) {
    if (changed != end && (!more || std::string_view(changed->first) <= stored->key())) {
      if (more && changed->first == stored->key()) more = stored->next();
      const auto& row = *changed++;
      if (row.second && !see(row.first, *row.second)) return {};
    } else {
      if (!see(stored->key(), stored->value())) return {};
      more = stored->next();
    }
  }
  if (stored->error()) return refuse(*stored->error());
  return {};
}

storage::ProjectionChanges ProjectionRows::take() {
  fetched_.clear();
  view_.reset();  // before the write: a store in memory copies what somebody looks at
  return std::move(changes_);
}

}  // namespace evershard::actors
