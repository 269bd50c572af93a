#include "evershard/doors/kurrent/persistent_service.hpp"

#include <limits>
#include <utility>

#include "evershard/doors/kurrent/persistent_read_call.hpp"
#include "evershard/doors/kurrent/refusing_call.hpp"

namespace evershard::kurrent {
namespace {

template <class Options>
std::string stream_named(const Options& options) {
  return options.has_all() ? std::string("$all") : options.stream_identifier().stream_name();
}

std::optional<Refusal> not_offered(const Kurrent& kurrent) {
  if (kurrent.persistent) return std::nullopt;
  Refusal refusal;
  refusal = not_on_a_cluster();
  return refusal;
}

}  // namespace

PersistentService::PersistentService(std::shared_ptr<Kurrent> kurrent)
    : ServiceOf(kurrent->calls), kurrent_(std::move(kurrent)) {
  const auto row = [this]<class Request, class Response>(door::CallName name, Scope scope, auto answer, Request*,
                                                         Response*) {
    unary(name, [this, scope, answer](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
      const auto decided = [kurrent = kurrent_, answer](Request& request,
                                                        Response& response) -> std::optional<Refusal> {
        if (auto refused = not_offered(*kurrent)) return refused;
        return answer(*kurrent->persistent, request, response);
      };
      return answer_or_refuse<Request, Response>(kurrent_, counted, context, in, out, scope, decided);
    });
  };
  row(
      {"Create", "CreatePersistent"}, Scope::admin,
      [](PersistentGroups& groups, esps::CreateReq& request, esps::CreateResp&) {
        return groups.create(request.options());
      },
      static_cast<esps::CreateReq*>(nullptr), static_cast<esps::CreateResp*>(nullptr));
  row(
      {"Update", "UpdatePersistent"}, Scope::admin,
      [](PersistentGroups& groups, esps::UpdateReq& request, esps::UpdateResp&) {
        return groups.update(request.options());
      },
      static_cast<esps::UpdateReq*>(nullptr), static_cast<esps::UpdateResp*>(nullptr));
  row(
      {"Delete", "DeletePersistent"}, Scope::admin,
      [](PersistentGroups& groups, esps::DeleteReq& request, esps::DeleteResp&) {
        return groups.remove(stream_named(request.options()), request.options().group_name());
      },
      static_cast<esps::DeleteReq*>(nullptr), static_cast<esps::DeleteResp*>(nullptr));
  row(
      {"GetInfo", "GetPersistentInfo"}, Scope::read,
      [](PersistentGroups& groups, esps::GetInfoReq& request, esps::GetInfoResp& response) -> std::optional<Refusal> {
        auto found = groups.find(stream_named(request.options()), request.options().group_name());
        if (auto* refused = std::get_if<Refusal>(&found)) return std::move(*refused);
        std::get<std::shared_ptr<HostedSubscription>>(found)->put_info(*response.mutable_subscription_info());
        return std::nullopt;
      },
      static_cast<esps::GetInfoReq*>(nullptr), static_cast<esps::GetInfoResp*>(nullptr));
  row(
      {"ReplayParked", "ReplayPersistentParked"}, Scope::append,
      [](PersistentGroups& groups, esps::ReplayParkedReq& request, esps::ReplayParkedResp&) -> std::optional<Refusal> {
        const auto& options = request.options();
        auto found = groups.find(stream_named(options), options.group_name());
        if (auto* refused = std::get_if<Refusal>(&found)) return std::move(*refused);
        const auto most = options.has_stop_at() && options.stop_at() >= 0 ? static_cast<std::size_t>(options.stop_at())
                                                                          : std::numeric_limits<std::size_t>::max();
        const auto done = std::get<std::shared_ptr<HostedSubscription>>(found)->replay(most);
        if (done) return std::nullopt;
        Refusal refusal;
        refusal.error = done.error();
        return refusal;
      },
      static_cast<esps::ReplayParkedReq*>(nullptr), static_cast<esps::ReplayParkedResp*>(nullptr));
  row(
      {"List", "ListPersistent"}, Scope::read,
      [](PersistentGroups& groups, esps::ListReq& request, esps::ListResp& response) -> std::optional<Refusal> {
        std::optional<std::string> stream;
        if (request.options().has_list_for_stream()) {
          const auto& wanted = request.options().list_for_stream();
          stream = wanted.has_all() ? std::string("$all") : wanted.stream().stream_name();
        }
        auto some = groups.list(stream);
        if (auto* refused = std::get_if<Refusal>(&some)) return std::move(*refused);
        for (const auto& each : std::get<std::vector<std::shared_ptr<HostedSubscription>>>(some))
          each->put_info(*response.add_subscriptions());
        return std::nullopt;
      },
      static_cast<esps::ListReq*>(nullptr), static_cast<esps::ListResp*>(nullptr));
  row(
      {"RestartSubsystem", "RestartPersistent"}, Scope::admin,
      [](PersistentGroups& groups, ::event_store::client::Empty&, ::event_store::client::Empty&) {
        return groups.restart();
      },
      static_cast<::event_store::client::Empty*>(nullptr), static_cast<::event_store::client::Empty*>(nullptr));
  both_ways({"Read", "ReadPersistent"}, [this](Counted& counted, Context* context) {
    return PersistentReadCall::start(kurrent_, counted, context);
  });
}

}  // namespace evershard::kurrent
