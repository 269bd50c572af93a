// One append over the wire.

#pragma once

#include "evershard/doors/grpc/calls.hpp"

namespace evershard::door {

grpc::ServerUnaryReactor* answer_append(Calls& calls, serving::MethodMetrics& counted,
                                        grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                        grpc::ByteBuffer* out);

/// The answer to an append that came at `came` and has `events` events, with a watermark at which they can be read; and
/// counts it.
void put_appended(Calls& calls, const Appended& appended, std::chrono::steady_clock::time_point came,
                  std::size_t events, pb::AppendResponse& to);

/// What was decoded of a request, by whoever may ask for it.
///
/// `conflicts_max`: none for who may not read. Errors: permission_denied: as serving::check_operators_writes
[[nodiscard]] Result<void> check_scopes(const serving::Caller& caller, const Append& append,
                                        std::uint32_t& conflicts_max);

/// The events that made a condition fail, at most `most` of them, from the first on. What cannot be read is left out:
/// the refusal stands without it.
[[nodiscard]] std::vector<RecordedEvent> conflicts_of(EventStore& store, const Error& error,
                                                      const std::vector<AppendCondition>& conditions,
                                                      std::uint32_t most);

}  // namespace evershard::door
