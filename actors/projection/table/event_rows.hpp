// EventRows: what one event changes, seen on top of a page's rows; kept as a whole, or not at all.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "evershard/actors/projection/projection_rows.hpp"

namespace evershard::actors {

class EventRows {
 public:
  explicit EventRows(ProjectionRows& page) : page_(page) {}

  /// Errors: io, corruption
  [[nodiscard]] Result<std::optional<std::string>> get(const std::string& key) {
    if (const auto changed = changed_.find(key); changed != changed_.end()) return changed->second;
    return page_.get(key);
  }
  void put(std::string key, std::string value) { changed_.insert_or_assign(std::move(key), std::move(value)); }
  void erase(std::string key) { changed_.insert_or_assign(std::move(key), std::nullopt); }

  void keep() {
    for (auto& [key, value] : changed_) {
      if (value) page_.put(key, std::move(*value));
      else page_.erase(key);
    }
    changed_.clear();
  }

 private:
  ProjectionRows& page_;
  std::unordered_map<std::string, std::optional<std::string>> changed_;
};

}  // namespace evershard::actors
