#include "evershard/protocol/table_read.hpp"

#include <array>

namespace evershard {
namespace {
constexpr std::array<std::string_view, 6> path_names{"key", "unique", "index", "index_range", "key_range", "scan"};
}

std::string_view name_of(TablePlan::Path path) {
  return path_names[static_cast<std::size_t>(path) % path_names.size()];
}

std::string TablePlan::text() const {
  std::string text(name_of(path));
  if (!field.empty()) text += ' ' + field;
  if (backwards) text += " backwards";
  if (filtered) text += ", filter";
  if (sorted) text += ", sort";
  return text;
}

}  // namespace evershard
