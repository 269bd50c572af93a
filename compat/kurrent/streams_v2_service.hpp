// StreamsService: version 2 of KurrentDB's protocol: one append to several streams, with what is expected of others.

#pragma once

#include <memory>

#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/kurrent/streams_v2.grpc.pb.h"

namespace evershard::kurrent {

class StreamsV2Service final : public door::ServiceOf<::kurrentdb::protocol::v2::streams::StreamsService> {
 public:
  explicit StreamsV2Service(std::shared_ptr<Kurrent> kurrent);

 private:
  const std::shared_ptr<Kurrent> kurrent_;
};

}  // namespace evershard::kurrent
