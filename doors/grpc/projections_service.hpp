// The service evershard.v1.Projections.

#pragma once

#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/v1/projections.grpc.pb.h"

namespace evershard::door {

class ProjectionsService final : public ServiceOf<pb::Projections> {
 public:
  explicit ProjectionsService(Calls& calls);
};

}  // namespace evershard::door
