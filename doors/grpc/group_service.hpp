// The service evershard.v1.Groups.

#pragma once

#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/v1/groups.grpc.pb.h"

namespace evershard::door {

class GroupService final : public ServiceOf<pb::Groups> {
 public:
  explicit GroupService(Calls& calls);
};

/// Of a store that has none. Errors: unavailable
[[nodiscard]] Result<Groups*> groups_of(const Calls& calls);

}  // namespace evershard::door
