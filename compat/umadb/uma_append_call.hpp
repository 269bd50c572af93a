// An append of UmaDB's.

#pragma once

#include "evershard/doors/grpc/calls.hpp"

namespace evershard::umadb {

grpc::ServerUnaryReactor* answer_append(door::Calls& calls, serving::MethodMetrics& counted,
                                        grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                        grpc::ByteBuffer* out);

}  // namespace evershard::umadb
