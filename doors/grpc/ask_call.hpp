// One command to an aggregate over the wire. Nobody waits for it in a thread; a caller who goes has it cancelled.

#pragma once

#include "evershard/doors/grpc/calls.hpp"

namespace evershard::door {

grpc::ServerUnaryReactor* answer_ask(Calls& calls, serving::MethodMetrics& counted,
                                     grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                     grpc::ByteBuffer* out);

}  // namespace evershard::door
