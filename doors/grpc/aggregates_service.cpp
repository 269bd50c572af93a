#include "evershard/doors/grpc/aggregates_service.hpp"

#include "evershard/api/messages/hosted_messages.hpp"
#include "evershard/doors/grpc/ask_call.hpp"

namespace evershard::door {

AggregatesService::AggregatesService(Calls& calls) : ServiceOf(calls) {
  unary("Ask", [this](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
    return answer_ask(calls_, counted, context, in, out);
  });
  answers<pb::ListKindsRequest, pb::ListKindsResponse>(
      "ListKinds", Scope::read, [this](pb::ListKindsRequest&, pb::ListKindsResponse& response) -> Result<void> {
        if (calls_.served.commands != nullptr) messages::put(calls_.served.commands->kinds(), response);
        return {};
      });
}

}  // namespace evershard::door
