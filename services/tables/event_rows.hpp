// EventRows: what one event changes, seen on top of what was changed before; kept as a whole, or not at all. Then comes
// the next event.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evershard/services/indexes/projection_rows.hpp"

namespace evershard::actors {

class EventRows {
 public:
  explicit EventRows(ProjectionRows& rows) : rows_(rows) {}

  /// Errors: io, corruption
  [[nodiscard]] Result<std::optional<std::string>> get(const std::string& key) {
    if (const auto* changed = find(key)) return changed->value;
    return rows_.get(key);
  }
  void put(std::string key, std::string value) { change(std::move(key), std::move(value), false); }
  /// Of a row that is not there, as the caller knows.
  void put_new(std::string key, std::string value) { change(std::move(key), std::move(value), true); }
  void erase(std::string key) { change(std::move(key), std::nullopt, false); }

  void keep() {
    for (auto& [key, value, is_new] : changed_) {
      if (!value && is_new) continue;
      if (!value)
        rows_.erase(key);
      else if (is_new)
        rows_.put_new(std::move(key), std::move(*value));
      else
        rows_.put(std::move(key), std::move(*value));
    }
    discard();
  }
  void discard() {
    changed_.clear();
    if (!places_.empty())
      std::unordered_map<std::string, std::size_t>().swap(
          places_);  // clear() would go through as many places as one event once had, each time
  }

 private:
  struct Changed {
    std::string key;
    std::optional<std::string> value;  ///< absent: the row goes
    bool is_new;                       ///< before this event there was none
  };
  static constexpr std::size_t looked_through = 16;  ///< most events change a few rows: no need to hash them

  Changed* find(const std::string& key) {
    if (changed_.size() > looked_through) {
      const auto place = places_.find(key);
      return place == places_.end() ? nullptr : &changed_[place->second];
    }
    for (auto& changed : changed_) {
      if (changed.key == key) return &changed;
    }
    return nullptr;
  }
  void change(std::string key, std::optional<std::string> value, bool is_new) {
    if (auto* changed = find(key)) {
      changed->value = std::move(value);
      return;
    }
    changed_.push_back({std::move(key), std::move(value), is_new});
    if (changed_.size() > looked_through) {
      for (std::size_t i = places_.size(); i < changed_.size(); ++i) places_.emplace(changed_[i].key, i);
    }
  }

  ProjectionRows& rows_;
  std::vector<Changed> changed_;
  std::unordered_map<std::string, std::size_t> places_;  ///< in changed_, where they are many
};

}  // namespace evershard::actors
