#include "evershard/compat/kurrent/operations_service.hpp"

#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "evershard/compat/kurrent/persistent_subscriptions.hpp"
#include "evershard/compat/kurrent/refusing_call.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::kurrent {

namespace eso = ::event_store::client::operations;
using Nothing = ::event_store::client::Empty;

struct OperationsService::Scavenge {
  std::mutex mutex{};
  std::string id{};  ///< of the scavenge that is under way; empty: there is none
  std::atomic<bool> stopping{false};
};

namespace {

Refusal operation_refused(ErrorCode code, std::string what) {
  Refusal refusal;
  refusal.error = {code, std::move(what)};
  return refusal;
}

}  // namespace

OperationsService::OperationsService(std::shared_ptr<Kurrent> kurrent)
    : ServiceOf(kurrent->calls), kurrent_(std::move(kurrent)), scavenge_(std::make_shared<Scavenge>()) {
  const auto row = [this]<class Request, class Response>(const char* name, auto answer, Request*, Response*) {
    unary(name, [this, answer](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
      return answer_or_refuse<Request, Response>(kurrent_, counted, context, in, out, Scope::admin, answer);
    });
  };
  auto* const nothing = static_cast<Nothing*>(nullptr);
  row(
      "StartScavenge",
      [kurrent = kurrent_, scavenge = scavenge_](eso::StartScavengeReq& request,
                                                 eso::ScavengeResp& response) -> std::optional<Refusal> {
        if (request.options().thread_count() < 0 || request.options().start_from_chunk() < 0)
          return operation_refused(ErrorCode::invalid_argument, "a scavenge has no fewer than 0 threads or chunks");
        const std::lock_guard lock(scavenge->mutex);
        response.set_scavenge_result(scavenge->id.empty() ? eso::ScavengeResp::Started : eso::ScavengeResp::InProgress);
        if (scavenge->id.empty()) {
          scavenge->id = EventId::random().text();
          scavenge->stopping = false;
          ++kurrent->calls.under_way;  // the door waits for it
          std::thread([kurrent, scavenge]() mutable {
            const auto done = kurrent->calls.served.administration.vacuum(
                [&](std::uint64_t, std::uint64_t) { return !scavenge->stopping && !kurrent->calls.closing; });
            if (!done && done.error().code != ErrorCode::cancelled && kurrent->calls.served.warn)
              kurrent->calls.served.warn(
                  Error(done.error().code, "a scavenge did not come to its end: " + done.error().what));
            {
              const std::lock_guard ended(scavenge->mutex);
              scavenge->id.clear();
            }
            auto& calls = kurrent->calls;
            kurrent.reset();
            --calls.under_way;
          }).detach();
        }
        response.set_scavenge_id(scavenge->id);
        return std::nullopt;
      },
      static_cast<eso::StartScavengeReq*>(nullptr), static_cast<eso::ScavengeResp*>(nullptr));
  row(
      "StopScavenge",
      [scavenge = scavenge_](eso::StopScavengeReq& request, eso::ScavengeResp& response) -> std::optional<Refusal> {
        const auto& id = request.options().scavenge_id();
        const std::lock_guard lock(scavenge->mutex);
        if (scavenge->id != id || id.empty())
          return refused_of_group("scavenge-not-found", "", "", ErrorCode::not_found,
                                  "no scavenge " + in_quotes(id, 100) + " is under way");
        scavenge->stopping = true;
        response.set_scavenge_id(id);
        response.set_scavenge_result(eso::ScavengeResp::Stopped);
        return std::nullopt;
      },
      static_cast<eso::StopScavengeReq*>(nullptr), static_cast<eso::ScavengeResp*>(nullptr));
  row(
      "Shutdown",
      [](Nothing&, Nothing&) -> std::optional<Refusal> {
        return operation_refused(ErrorCode::permission_denied,
                                 "a client does not stop this server: whoever started it does");
      },
      nothing, nothing);
  row(
      "MergeIndexes",
      [kurrent = kurrent_](Nothing&, Nothing&) -> std::optional<Refusal> {
        const auto flushed = kurrent->calls.served.administration.flush();
        return flushed ? std::nullopt : std::optional(operation_refused(flushed.error().code, flushed.error().what));
      },
      nothing, nothing);
  // Any node takes any request, so that there is nobody to resign; a priority changes nothing.
  row(
      "ResignNode", [](Nothing&, Nothing&) -> std::optional<Refusal> { return std::nullopt; }, nothing, nothing);
  row(
      "SetNodePriority", [](eso::SetNodePriorityReq&, Nothing&) -> std::optional<Refusal> { return std::nullopt; },
      static_cast<eso::SetNodePriorityReq*>(nullptr), nothing);
  row(
      "RestartPersistentSubscriptions",
      [kurrent = kurrent_](Nothing&, Nothing&) -> std::optional<Refusal> { return kurrent->persistent->restart(); },
      nothing, nothing);
}

}  // namespace evershard::kurrent
