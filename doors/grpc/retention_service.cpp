#include "evershard/doors/grpc/retention_service.hpp"

#include <algorithm>

#include "evershard/api/messages/messages.hpp"
#include "evershard/api/messages/retention_messages.hpp"

namespace evershard::door {
namespace {

constexpr std::uint32_t entries_max = 1'000;

Result<pb::RetentionResponse> said(Result<RetentionResult> done) {
  if (!done) return refuse(std::move(done).error());
  pb::RetentionResponse response;
  messages::put(*done, *response.mutable_result());
  return response;
}

}  // namespace

Result<HistoryRetention*> RetentionService::retention() const {
  if (calls_.served.retention == nullptr) return refuse(ErrorCode::unavailable, "this server offers no retention");
  return calls_.served.retention;
}

RetentionService::RetentionService(Calls& calls) : ServiceOf(calls) {
  works<pb::TruncateAggregateRequest, pb::RetentionResponse>(
      "TruncateAggregate",
      [this](pb::TruncateAggregateRequest& request, const Progress& progress) -> Result<pb::RetentionResponse> {
        const auto offered = retention();
        if (!offered) return refuse(offered.error());
        TruncateOptions options;
        static_cast<RetentionOrder&>(options) = messages::order_of(request.order());
        options.uncovered = request.uncovered();
        return said((*offered)->truncate_aggregate(messages::aggregate_of(request.aggregate()), SeqNr(request.before()),
                                                   std::move(options), progress));
      });
  works<pb::RemoveAggregateRequest, pb::RetentionResponse>(
      "RemoveAggregate",
      [this](pb::RemoveAggregateRequest& request, const Progress& progress) -> Result<pb::RetentionResponse> {
        const auto offered = retention();
        if (!offered) return refuse(offered.error());
        return said((*offered)->remove_aggregate(messages::aggregate_of(request.aggregate()),
                                                 messages::order_of(request.order()), progress));
      });
  works<pb::EraseSubjectRequest, pb::RetentionResponse>(
      "EraseSubject",
      [this](pb::EraseSubjectRequest& request, const Progress& progress) -> Result<pb::RetentionResponse> {
        const auto offered = retention();
        if (!offered) return refuse(offered.error());
        return said((*offered)->erase_subject(request.subject(), messages::order_of(request.order()), progress));
      });
  works<pb::ApplyRetentionRequest, pb::RetentionResponse>(
      "ApplyRetention",
      [this](pb::ApplyRetentionRequest& request, const Progress& progress) -> Result<pb::RetentionResponse> {
        const auto offered = retention();
        if (!offered) return refuse(offered.error());
        return said((*offered)->apply_retention(messages::order_of(request.order()), progress));
      });
  answers<pb::SetRetentionPolicyRequest, pb::SetRetentionPolicyResponse>(
      "SetRetentionPolicy", Scope::admin,
      [this](pb::SetRetentionPolicyRequest& request, pb::SetRetentionPolicyResponse&) -> Result<void> {
        const auto offered = retention();
        if (!offered) return refuse(offered.error());
        const auto policy = messages::policy_of(request.policy());
        if (!policy) return refuse(policy.error());
        return (*offered)->set_retention_policy(*policy, messages::order_of(request.order()));
      });
  answers<pb::DropRetentionPolicyRequest, pb::DropRetentionPolicyResponse>(
      "DropRetentionPolicy", Scope::admin,
      [this](pb::DropRetentionPolicyRequest& request, pb::DropRetentionPolicyResponse&) -> Result<void> {
        const auto offered = retention();
        if (!offered) return refuse(offered.error());
        return (*offered)->drop_retention_policy(request.name(), messages::order_of(request.order()));
      });
  answers<pb::ListRetentionPoliciesRequest, pb::ListRetentionPoliciesResponse>(
      "ListRetentionPolicies", Scope::read,
      [this](pb::ListRetentionPoliciesRequest&, pb::ListRetentionPoliciesResponse& response) -> Result<void> {
        const auto offered = retention();
        if (!offered) return refuse(offered.error());
        const auto all = (*offered)->retention_policies();
        if (!all) return refuse(all.error());
        for (const auto& policy : *all) messages::put(policy, *response.add_policies());
        return {};
      });
  answers<pb::ReadRetentionLogRequest, pb::ReadRetentionLogResponse>(
      "ReadRetentionLog", Scope::read,
      [this](pb::ReadRetentionLogRequest& request, pb::ReadRetentionLogResponse& response) -> Result<void> {
        const auto offered = retention();
        if (!offered) return refuse(offered.error());
        const auto limit = request.limit() == 0 ? entries_max : std::min(request.limit(), entries_max);
        auto entries = (*offered)->retention_log(SeqNr(request.after()), static_cast<std::size_t>(limit) + 1);
        if (!entries) return refuse(std::move(entries).error());
        const bool more = entries->size() > limit;
        if (more) entries->pop_back();
        if (more) response.set_next(entries->back().number.value);
        for (auto& entry : *entries) messages::put(std::move(entry), *response.add_entries());
        return {};
      });
}

}  // namespace evershard::door
