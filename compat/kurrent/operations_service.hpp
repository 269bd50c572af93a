// Operations of KurrentDB's protocol: what of it means something here.

#pragma once

#include <atomic>
#include <memory>

#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/kurrent/operations.grpc.pb.h"

namespace evershard::kurrent {

/// A scavenge is our vacuum, in a thread of its own; there is one at a time. No client stops the server.
class OperationsService final : public door::ServiceOf<::event_store::client::operations::Operations> {
 public:
  explicit OperationsService(std::shared_ptr<Kurrent> kurrent);

 private:
  struct Scavenge;
  const std::shared_ptr<Kurrent> kurrent_;
  const std::shared_ptr<Scavenge> scavenge_;
};

}  // namespace evershard::kurrent
