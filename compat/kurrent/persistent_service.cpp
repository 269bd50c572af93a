#include "evershard/compat/kurrent/persistent_service.hpp"

#include <limits>
#include <utility>

#include "evershard/compat/kurrent/persistent_read_call.hpp"
#include "evershard/compat/kurrent/refusing_call.hpp"

namespace evershard::kurrent {
namespace {

std::optional<std::string> stream_listed(const esps::ListReq& request) {
  if (!request.options().has_list_for_stream()) return std::nullopt;
  const auto& wanted = request.options().list_for_stream();
  return wanted.has_all() ? std::string("$all") : wanted.stream().stream_name();
}

/// How many parked events.
template <class Options>
std::size_t most_of(const Options& options) {
  return options.has_stop_at() && options.stop_at() >= 0 ? static_cast<std::size_t>(options.stop_at())
                                                         : std::numeric_limits<std::size_t>::max();
}

}  // namespace

PersistentService::PersistentService(std::shared_ptr<Kurrent> kurrent)
    : ServiceOf(kurrent->calls), kurrent_(std::move(kurrent)) {
  const auto row = [this]<class Request, class Response>(door::CallName name, Scope scope, auto answer, Request*,
                                                         Response*) {
    unary(name, [this, scope, answer](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
      const auto decided = [kurrent = kurrent_, answer](Request& request, Response& response) {
        return std::optional<Refusal>(answer(*kurrent->persistent, request, response));
      };
      return answer_or_refuse<Request, Response>(kurrent_, counted, context, in, out, scope, decided);
    });
  };
  row(
      {"Create", "CreatePersistent"}, Scope::admin,
      [](PersistentSubscriptions& groups, esps::CreateReq& request, esps::CreateResp&) {
        return groups.create(request.options());
      },
      static_cast<esps::CreateReq*>(nullptr), static_cast<esps::CreateResp*>(nullptr));
  row(
      {"Update", "UpdatePersistent"}, Scope::admin,
      [](PersistentSubscriptions& groups, esps::UpdateReq& request, esps::UpdateResp&) {
        return groups.update(request.options());
      },
      static_cast<esps::UpdateReq*>(nullptr), static_cast<esps::UpdateResp*>(nullptr));
  row(
      {"Delete", "DeletePersistent"}, Scope::admin,
      [](PersistentSubscriptions& groups, esps::DeleteReq& request, esps::DeleteResp&) {
        return groups.remove(name_in(request.options()));
      },
      static_cast<esps::DeleteReq*>(nullptr), static_cast<esps::DeleteResp*>(nullptr));
  row(
      {"GetInfo", "GetPersistentInfo"}, Scope::read,
      [](PersistentSubscriptions& groups, esps::GetInfoReq& request,
         esps::GetInfoResp& response) -> std::optional<Refusal> {
        return groups.info(name_in(request.options()), *response.mutable_subscription_info());
      },
      static_cast<esps::GetInfoReq*>(nullptr), static_cast<esps::GetInfoResp*>(nullptr));
  row(
      {"ReplayParked", "ReplayPersistentParked"}, Scope::append,
      [](PersistentSubscriptions& groups, esps::ReplayParkedReq& request, esps::ReplayParkedResp&)
          -> std::optional<Refusal> { return groups.replay(name_in(request.options()), most_of(request.options())); },
      static_cast<esps::ReplayParkedReq*>(nullptr), static_cast<esps::ReplayParkedResp*>(nullptr));
  row(
      {"TruncateParked", "TruncatePersistentParked"}, Scope::append,
      [](PersistentSubscriptions& groups, esps::TruncateParkedReq& request,
         esps::TruncateParkedResp&) -> std::optional<Refusal> {
        return groups.truncate_parked(name_in(request.options()), most_of(request.options()));
      },
      static_cast<esps::TruncateParkedReq*>(nullptr), static_cast<esps::TruncateParkedResp*>(nullptr));
  row(
      {"List", "ListPersistent"}, Scope::read,
      [](PersistentSubscriptions& groups, esps::ListReq& request, esps::ListResp& response) -> std::optional<Refusal> {
        auto some = groups.list(stream_listed(request));
        if (auto* refused = std::get_if<Refusal>(&some)) return std::move(*refused);
        for (auto& each : std::get<std::vector<esps::SubscriptionInfo>>(some))
          *response.add_subscriptions() = std::move(each);
        return std::nullopt;
      },
      static_cast<esps::ListReq*>(nullptr), static_cast<esps::ListResp*>(nullptr));
  row(
      {"RestartSubsystem", "RestartPersistent"}, Scope::admin,
      [](PersistentSubscriptions& groups, ::event_store::client::Empty&, ::event_store::client::Empty&) {
        return groups.restart();
      },
      static_cast<::event_store::client::Empty*>(nullptr), static_cast<::event_store::client::Empty*>(nullptr));
  both_ways({"Read", "ReadPersistent"}, [this](Counted& counted, Context* context) {
    return PersistentReadCall::start(kurrent_, counted, context);
  });
}

}  // namespace evershard::kurrent
