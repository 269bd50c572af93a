// The service evershard.v1.Processes.

#pragma once

#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/v1/process_service.grpc.pb.h"

namespace evershard::door {

class ProcessService final : public ServiceOf<pb::Processes> {
 public:
  explicit ProcessService(Calls& calls);

 private:
  /// Errors: unavailable: it is not offered here
  [[nodiscard]] Result<Processes*> processes() const;
};

}  // namespace evershard::door
