// The service evershard.v1.Administration.

#pragma once

#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/v1/service.grpc.pb.h"

namespace evershard::door {

class AdministrationService final : public ServiceOf<pb::Administration> {
 public:
  explicit AdministrationService(Calls& calls);
};

}  // namespace evershard::door
