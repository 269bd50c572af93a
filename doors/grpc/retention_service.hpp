// The service evershard.v1.Retention.

#pragma once

#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/v1/retention.grpc.pb.h"

namespace evershard::door {

class RetentionService final : public ServiceOf<pb::Retention> {
 public:
  explicit RetentionService(Calls& calls);

 private:
  /// Errors: unavailable: it is not offered here
  [[nodiscard]] Result<HistoryRetention*> retention() const;
};

}  // namespace evershard::door
