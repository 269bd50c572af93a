#include "evershard/doors/remote/remote_retention.hpp"

#include <algorithm>
#include <limits>

#include "evershard/api/messages/messages.hpp"
#include "evershard/api/messages/retention_messages.hpp"
#include "evershard/doors/remote/followed_work.hpp"
#include "evershard/doors/remote/sendable.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"

namespace evershard::remote {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t entries_a_call = 1'000;

/// Shape: `open`: std::unique_ptr<grpc::ClientReader<pb::RetentionResponse>>(Door&, grpc::ClientContext&)
template <class Open>
Result<RetentionResult> follow_removal(Connection& connection, bool dry_run, const Progress& progress, Open open) {
  std::optional<RetentionResult> result;
  EVERSHARD_TRY(follow_work<pb::RetentionResponse>(
      connection, progress, std::move(open),
      [&](const pb::RetentionResponse& response) { result = messages::result_of(response.result()); },
      dry_run ? Unheard::as_said : Unheard::may_be_done));
  if (!result)
    return refuse(dry_run ? ErrorCode::unavailable : ErrorCode::timeout,
                  "the server ended without saying what was done");
  return *std::move(result);
}

/// Behind what this client has seen.
template <class Request, class Call>
Result<void> ask_for_retention(Connection& connection, Request& request, Call call) {
  const auto position = connection.at_least({});
  return connection.ask(
      connection.options().timeout,
      [&](Door& door, grpc::ClientContext& context, milliseconds left) {
        if (position) {
          request.mutable_at_least()->set_position(position->value);
          request.mutable_at_least()->set_timeout_ms(static_cast<std::uint32_t>(std::clamp<std::int64_t>(
              connection.wait_at_one(left).count(), 0, std::numeric_limits<std::uint32_t>::max())));
        }
        return call(door, context);
      },
      Connection::Again::not_served, position ? Connection::answer_grace : milliseconds(0));
}

}  // namespace

Result<RetentionResult> RemoteRetention::truncate_aggregate(const AggregateId& aggregate, SeqNr before,
                                                            TruncateOptions options, Progress progress) {
  EVERSHARD_TRY(check(options));
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::TruncateAggregateRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  request.set_before(before.value);
  request.set_uncovered(options.uncovered);
  messages::put(options, *request.mutable_order());
  EVERSHARD_TRY(sendable(request));
  return follow_removal(*connection_, options.dry_run, progress, [&](Door& door, grpc::ClientContext& context) {
    return door.retention->TruncateAggregate(&context, request);
  });
}

Result<RetentionResult> RemoteRetention::remove_aggregate(const AggregateId& aggregate, RetentionOrder order,
                                                          Progress progress) {
  EVERSHARD_TRY(check(order));
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::RemoveAggregateRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  messages::put(order, *request.mutable_order());
  EVERSHARD_TRY(sendable(request));
  return follow_removal(*connection_, order.dry_run, progress, [&](Door& door, grpc::ClientContext& context) {
    return door.retention->RemoveAggregate(&context, request);
  });
}

Result<RetentionResult> RemoteRetention::erase_subject(const std::string& subject, RetentionOrder order,
                                                       Progress progress) {
  EVERSHARD_TRY(check(order));
  EVERSHARD_TRY(check_name("subject", subject, subject_bytes_max));
  pb::EraseSubjectRequest request;
  request.set_subject(subject);
  messages::put(order, *request.mutable_order());
  EVERSHARD_TRY(sendable(request));
  return follow_removal(*connection_, order.dry_run, progress, [&](Door& door, grpc::ClientContext& context) {
    return door.retention->EraseSubject(&context, request);
  });
}

Result<RetentionResult> RemoteRetention::apply_retention(RetentionOrder order, Progress progress) {
  EVERSHARD_TRY(check(order));
  pb::ApplyRetentionRequest request;
  messages::put(order, *request.mutable_order());
  EVERSHARD_TRY(sendable(request));
  return follow_removal(*connection_, order.dry_run, progress, [&](Door& door, grpc::ClientContext& context) {
    return door.retention->ApplyRetention(&context, request);
  });
}

Result<void> RemoteRetention::set_retention_policy(const RetentionPolicy& policy, RetentionOrder order) {
  EVERSHARD_TRY(check(order));
  if (policy.keep.count() < 0) return refuse(ErrorCode::invalid_argument, "a policy keeps for at least a second");
  pb::SetRetentionPolicyRequest request;
  messages::put(policy, *request.mutable_policy());
  messages::put(order, *request.mutable_order());
  EVERSHARD_TRY(sendable(request));
  pb::SetRetentionPolicyResponse response;
  return connection_->ask(
      [&](Door& door, grpc::ClientContext& context, milliseconds) {
        return door.retention->SetRetentionPolicy(&context, request, &response);
      },
      Connection::Again::not_sent);
}

Result<void> RemoteRetention::drop_retention_policy(const std::string& name, RetentionOrder order) {
  EVERSHARD_TRY(check(order));
  pb::DropRetentionPolicyRequest request;
  request.set_name(name);
  messages::put(order, *request.mutable_order());
  EVERSHARD_TRY(sendable(request));
  pb::DropRetentionPolicyResponse response;
  return connection_->ask(
      [&](Door& door, grpc::ClientContext& context, milliseconds) {
        return door.retention->DropRetentionPolicy(&context, request, &response);
      },
      Connection::Again::not_sent);
}

Result<std::vector<RetentionPolicy>> RemoteRetention::retention_policies() {
  pb::ListRetentionPoliciesRequest request;
  pb::ListRetentionPoliciesResponse response;
  EVERSHARD_TRY(ask_for_retention(*connection_, request, [&](Door& door, grpc::ClientContext& context) {
    return door.retention->ListRetentionPolicies(&context, request, &response);
  }));
  std::vector<RetentionPolicy> all;
  for (const auto& one : response.policies()) {
    auto policy = messages::policy_of(one);
    if (!policy) return refuse(std::move(policy).error());
    all.push_back(*std::move(policy));
  }
  return all;
}

Result<std::vector<RetentionEntry>> RemoteRetention::retention_log(SeqNr after, std::size_t limit) {
  std::vector<RetentionEntry> all;
  while (all.size() < limit) {
    pb::ReadRetentionLogRequest request;
    request.set_after(after.value);
    request.set_limit(static_cast<std::uint32_t>(std::min(limit - all.size(), entries_a_call)));
    pb::ReadRetentionLogResponse response;
    EVERSHARD_TRY(ask_for_retention(*connection_, request, [&](Door& door, grpc::ClientContext& context) {
      return door.retention->ReadRetentionLog(&context, request, &response);
    }));
    const auto asked = request.limit();
    for (auto& entry : *response.mutable_entries()) all.push_back(messages::entry_of(std::move(entry)));
    if (static_cast<std::uint32_t>(response.entries_size()) < asked) break;
    after = all.back().number;
  }
  return all;
}

}  // namespace evershard::remote
