// The figures of a group, as a store's stats name them.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "evershard/api/groups.hpp"

namespace evershard::cluster {

/// `groups.NAME.lag` and the like.
inline void add_figures(std::vector<std::pair<std::string, std::uint64_t>>& details, const GroupInfo& group) {
  const auto prefix = "groups." + group.definition.name + ".";
  details.emplace_back(prefix + "lag", group.lag());
  details.emplace_back(prefix + "unsettled", group.unsettled);
  details.emplace_back(prefix + "in_flight", group.in_flight);
  details.emplace_back(prefix + "parked", group.parked);
  details.emplace_back(prefix + "workers", group.workers.size());
  details.emplace_back(prefix + "redeliveries", group.rejected + group.expired);
  details.emplace_back(prefix + "damaged", group.damaged);
}

}  // namespace evershard::cluster
