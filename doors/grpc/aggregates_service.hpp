// The service evershard.v1.Aggregates.

#pragma once

#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/v1/asks.grpc.pb.h"

namespace evershard::door {

class AggregatesService final : public ServiceOf<pb::Aggregates> {
 public:
  explicit AggregatesService(Calls& calls);
};

}  // namespace evershard::door
