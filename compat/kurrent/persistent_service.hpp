// PersistentSubscriptions of KurrentDB's protocol, as a table of calls.

#pragma once

#include <memory>

#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/compat/kurrent/persistent_subscriptions.hpp"
#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/kurrent/persistent.grpc.pb.h"

namespace evershard::kurrent {

class PersistentService final
    : public door::ServiceOf<::event_store::client::persistent_subscriptions::PersistentSubscriptions> {
 public:
  explicit PersistentService(std::shared_ptr<Kurrent> kurrent);

 private:
  const std::shared_ptr<Kurrent> kurrent_;
};

}  // namespace evershard::kurrent
