// Which store it is, and its figures, as JSON and as parts for a person.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "evershard/cluster/exchange/json_text.hpp"
#include "evershard/cluster/local/local.hpp"

namespace evershard::cli {

using Parts = std::vector<std::pair<std::string, std::string>>;

void write_info_members(JsonText& json, const StoreInfo& info);
void add_info_parts(Parts& parts, const StoreInfo& info);

}  // namespace evershard::cli
