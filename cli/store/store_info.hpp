// Which store it is, as parts for a person.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "evershard/local/local.hpp"

namespace evershard::cli {

using Parts = std::vector<std::pair<std::string, std::string>>;

void add_info_parts(Parts& parts, const StoreInfo& info);

}  // namespace evershard::cli
