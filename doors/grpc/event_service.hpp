// The service evershard.v1.EventStore: each call, with what it needs.

#pragma once

#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/doors/serving/types_cache.hpp"
#include "evershard/v1/service.grpc.pb.h"

namespace evershard::door {

class EventService final : public ServiceOf<pb::EventStore> {
 public:
  explicit EventService(Calls& calls);

 private:
  serving::TypesCache types_;
};

}  // namespace evershard::door
