#include "evershard/cli/store/copy_lacks.hpp"

#include "evershard/cli/print.hpp"

namespace evershard::cli {

void CopyLacks::put(JsonText& json) const {
  json.key("without_state").begin_array();
  for (const auto& aggregate : without_state_) json.string(aggregate);
  json.end_array().key("left_out").begin_array();
  for (const auto& what : left_out_) json.string(what);
  json.end_array();
}

void CopyLacks::put(std::vector<std::pair<std::string, std::string>>& parts) const {
  parts.emplace_back("aggregates without their state", some_of(without_state_));
  for (const auto& what : left_out_) parts.emplace_back("damaged in the source, left out", what);
}

}  // namespace evershard::cli
