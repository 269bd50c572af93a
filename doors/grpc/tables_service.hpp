// The service evershard.v1.Tables.

#pragma once

#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/v1/tables.grpc.pb.h"

namespace evershard::door {

class TablesService final : public ServiceOf<pb::Tables> {
 public:
  explicit TablesService(Calls& calls);
};

}  // namespace evershard::door
