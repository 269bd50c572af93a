// Streams: version 1 of KurrentDB's protocol, as a table of calls.

#pragma once

#include <memory>

#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/kurrent/streams.grpc.pb.h"

namespace evershard::kurrent {

class StreamsService final : public door::ServiceOf<::event_store::client::streams::Streams> {
 public:
  explicit StreamsService(std::shared_ptr<Kurrent> kurrent);

 private:
  template <class Request, class Response>
  void ends(door::CallName name, bool for_good);

  const std::shared_ptr<Kurrent> kurrent_;
};

}  // namespace evershard::kurrent
