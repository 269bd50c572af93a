// ExportLines: stored events as lines that `import` reads; the events of one append on one line.

#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "evershard/api/json/json_text.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::cli {

/// A bare event for an append of one, `{"events":[...]}` for the others. Where a query chose some events of an append,
/// those.
class ExportLines {
 public:
  explicit ExportLines(std::function<void(std::string_view line)> write) : write_(std::move(write)) {}

  /// In order of position.
  void event(RecordedEvent event);
  /// `{"snapshot":{...}}`, behind the events that it stands for.
  void snapshot(const RecordedSnapshot& snapshot);
  /// Writes the append that waits.
  void finish();

 private:
  std::function<void(std::string_view line)> write_;
  std::vector<RecordedEvent> append_;
  JsonText json_;
};

}  // namespace evershard::cli
