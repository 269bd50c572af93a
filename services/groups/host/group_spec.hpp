// GroupSpec: a group's definition as its events say it, in JSON.

#pragma once

#include <string>
#include <string_view>

#include "evershard/api/groups.hpp"

namespace evershard::cluster {

struct GroupSpec {
  GroupDefinition definition{};  ///< `after` is there
  std::uint64_t life =
      0;  ///< another one with each creation and reset: kept state of another life is void; less than 2^53
  friend bool operator==(const GroupSpec&, const GroupSpec&) = default;
};

/// Without the name, which its aggregate has.
[[nodiscard]] std::string write_group_spec(const GroupSpec& spec);
/// What it does not know is skipped. Errors: corruption
[[nodiscard]] Result<GroupSpec> read_group_spec(std::string_view name, std::string_view json);

}  // namespace evershard::cluster
