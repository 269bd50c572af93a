// RefusedFile: what an import leaves out, for whoever is to look at it.

#pragma once

#include <memory>
#include <string>

#include "evershard/api/json/output.hpp"
#include "evershard/api/json/output_file.hpp"
#include "evershard/compat/import/import_source.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cli {

/// JSON Lines: {"position": "12/7", "why": "...", "event": {...}}. Until it is whole, what an earlier import wrote
/// stays.
class RefusedFile {
 public:
  /// Errors: io
  [[nodiscard]] static Result<std::unique_ptr<RefusedFile>> create(std::string path);
  explicit RefusedFile(OutputFile file) : file_(std::move(file)) {}

  /// Shape: `event.refused`. Errors: io
  [[nodiscard]] Result<void> write(const ImportedEvent& event);
  /// It is whole. Errors: io
  [[nodiscard]] Result<void> keep();

 private:
  OutputFile file_;
  Output out_{file_.descriptor()};
};

}  // namespace evershard::cli
