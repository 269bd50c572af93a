// make_service: a service of a door, with all its rows.

#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>
#include <utility>

#include "evershard/doors/grpc/calls.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard::door {

/// A call without a row would be answered by generated code, in threads of gRPC's own.
template <class Service, class... Rest>
std::shared_ptr<grpc::Service> make_service(Calls& calls, Rest&&... rest) {
  auto service = std::make_shared<Service>(calls, std::forward<Rest>(rest)...);
  EVERSHARD_CHECK(service->is_complete(), "a service lacks a row of its .proto");
  return service;
}

}  // namespace evershard::door
