#include "evershard/doors/grpc/group_service.hpp"

#include "evershard/api/calls/groups_calls.hpp"
#include "evershard/doors/grpc/group_work_call.hpp"

namespace evershard::door {

Result<Groups*> groups_of(const Calls& calls) {
  if (calls.served.groups == nullptr) return refuse(ErrorCode::unavailable, "this server offers no consumer groups");
  return calls.served.groups;
}

GroupService::GroupService(Calls& calls) : ServiceOf(calls) {
  offers(calls::groups_calls(), [this] { return groups_of(calls_); });
  both_ways("Work",
            [this](Counted& counted, Context* context) { return GroupWorkCall::start(calls_, counted, context); });
}

}  // namespace evershard::door
