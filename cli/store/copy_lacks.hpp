// CopyLacks: what a copy, or a store that is made of one, does without: asked for, gathered and shown by each command
// that makes one.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "evershard/api/json/json_text.hpp"
#include "evershard/protocol/aggregate_id.hpp"

namespace evershard::cli {

/// Owner: outlives the work that tells it.
class CopyLacks {
 public:
  /// Shape: Options has `without_state` and `left_out`, as BackupOptions has.
  template <class Options>
  void gather(Options& how) {
    how.without_state = [this](const AggregateId& aggregate) { without_state_.push_back(aggregate.text()); };
    how.left_out = [this](const std::string& what) { left_out_.push_back(what); };
  }

  /// Two keys of an object that is open.
  void put(JsonText& json) const;
  /// The lines under a table of parts.
  void put(std::vector<std::pair<std::string, std::string>>& parts) const;

 private:
  std::vector<std::string> without_state_, left_out_;
};

}  // namespace evershard::cli
