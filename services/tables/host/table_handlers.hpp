// TableHandlers: the handlers in C++ of this process, by name.

#pragma once

#include <map>
#include <mutex>
#include <string>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/tables/table_projection.hpp"

namespace evershard::cluster {

/// Any thread.
class TableHandlers {
 public:
  /// Errors: invalid_argument: there is one of that name
  [[nodiscard]] Result<void> add(const std::string& name, actors::TableHandler handler) {
    const std::lock_guard lock(mutex_);
    if (!handler) return refuse(ErrorCode::invalid_argument, "handler " + in_quotes(name) + " is empty");
    if (!handlers_.try_emplace(name, std::move(handler)).second)
      return refuse(ErrorCode::invalid_argument, "there is a handler " + in_quotes(name) + " already");
    return {};
  }
  /// Empty: there is none.
  [[nodiscard]] actors::TableHandler find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = handlers_.find(name);
    return found == handlers_.end() ? actors::TableHandler{} : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, actors::TableHandler> handlers_;
};

}  // namespace evershard::cluster
