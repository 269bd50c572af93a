// The service evershard.v1.ScheduledAppends.

#pragma once

#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/v1/scheduled.grpc.pb.h"

namespace evershard::door {

class ScheduledService final : public ServiceOf<pb::ScheduledAppends> {
 public:
  explicit ScheduledService(Calls& calls);

 private:
  /// Errors: unavailable: it is not offered here
  [[nodiscard]] Result<ScheduledAppends*> scheduled() const;
};

}  // namespace evershard::door
