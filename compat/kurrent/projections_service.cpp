#include "evershard/compat/kurrent/projections_service.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "evershard/compat/kurrent/refusing_call.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::kurrent {
namespace {

struct OwnProjection {
  std::string_view name;
  bool runs;
};

/// Those of a server of theirs.
constexpr std::array<OwnProjection, 5> own_projections{{
    {"$by_category", true},
    {"$by_event_type", true},
    {"$by_correlation_id", false},
    {"$stream_by_category", false},
    {"$streams", false},
}};

Refusal refused_projection(ErrorCode code, std::string what) {
  Refusal refusal;
  refusal.error = {code, std::move(what)};
  return refusal;
}

Refusal unknown_projection(std::string_view name) {
  return refused_projection(ErrorCode::not_found,
                            "there is no projection " + in_quotes(std::string(name), 300) + " of this protocol");
}

esproj::StatisticsResp details_of(const OwnProjection& projection, GlobalPosition head) {
  esproj::StatisticsResp response;
  auto& details = *response.mutable_details();
  details.set_name(std::string(projection.name));
  details.set_effectivename(std::string(projection.name));
  details.set_mode("Continuous");
  details.set_status(projection.runs ? "Running" : "Stopped");
  if (!projection.runs) {
    details.set_statereason("not served by this server");
    return response;
  }
  const auto position = std::to_string(head.value);
  details.set_position("C:" + position + "/P:" + position);
  details.set_lastcheckpoint(details.position());
  details.set_progress(100);
  return response;
}

/// A few messages, and the end.
class StatisticsCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                             public std::enable_shared_from_this<StatisticsCall> {
 public:
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* start(const std::shared_ptr<Kurrent>& kurrent,
                                                           serving::MethodMetrics& counted,
                                                           grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* in) {
    auto call = std::make_shared<StatisticsCall>(kurrent, counted);
    call->self_ = call;
    auto* reactor = call.get();
    const auto answered = [&]() -> Result<void> {
      const auto caller = call->here_.admit(*context, serving::Scope::read, in->Length());
      if (!caller) return refuse(caller.error());
      esproj::StatisticsReq request;
      EVERSHARD_TRY(door::parse(kurrent->calls, *in, request));
      const auto head = kurrent->events.head();
      if (!head) return refuse(head.error());
      auto told = statistics_of(request, *head);
      if (!told) return refuse(std::move(told).error());
      for (const auto& each : *told) call->messages_.push_back(door::bytes_of(each));
      return {};
    }();
    if (answered) {
      call->send_next();
    } else {
      Refusal refusal;
      refusal.error = answered.error();
      call->Finish(status_of(call->here_, *context, refusal, 0));
    }
    return reactor;
  }
  StatisticsCall(std::shared_ptr<Kurrent> kurrent, serving::MethodMetrics& counted)
      : kurrent_(std::move(kurrent)), here_(kurrent_->calls, counted) {}

  void OnWriteDone(bool ok) override {
    const auto keep = shared_from_this();
    if (ok) return send_next();
    Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { self_.reset(); }

 private:
  void send_next() {
    if (sent_ == messages_.size()) return Finish(grpc::Status::OK);
    StartWrite(&messages_[sent_++]);
  }

  const std::shared_ptr<Kurrent> kurrent_;
  door::UnderWay here_;
  std::shared_ptr<StatisticsCall> self_;  ///< until OnDone
  std::vector<grpc::ByteBuffer> messages_;
  std::size_t sent_ = 0;
};

}  // namespace

std::optional<Refusal> refusal_of_change(std::string_view projection, ProjectionChange change) {
  const auto own = std::ranges::find(own_projections, projection, &OwnProjection::name);
  if (own == own_projections.end()) return unknown_projection(projection);
  const auto named = "projection " + std::string(projection) + ' ';
  switch (change) {
    case ProjectionChange::enable:
    case ProjectionChange::reset:
      if (own->runs) return std::nullopt;
      return not_served(named + "is not served by this server");
    case ProjectionChange::disable:
      if (!own->runs) return std::nullopt;
      return not_served(named + "cannot be stopped: its streams are derived when they are read");
    case ProjectionChange::update:
    case ProjectionChange::remove:
      return refused_projection(ErrorCode::permission_denied, named + "is the server's own");
    case ProjectionChange::state:
      return not_served(named + "has no state");
  }
  return std::nullopt;
}

Result<std::vector<esproj::StatisticsResp>> statistics_of(const esproj::StatisticsReq& request, GlobalPosition head) {
  const auto& options = request.options();
  std::vector<esproj::StatisticsResp> told;
  if (options.has_transient() || options.has_one_time()) return told;
  for (const auto& each : own_projections) {
    if (options.mode_case() != esproj::StatisticsReq::Options::kName || options.name() == each.name)
      told.push_back(details_of(each, head));
  }
  if (told.empty()) return refuse(unknown_projection(options.name()).error);
  return told;
}

template <class Request, class Response>
void ProjectionsService::changes(door::CallName name, Scope scope, ProjectionChange change) {
  unary(name, [this, scope, change](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
    return answer_or_refuse<Request, Response>(
        kurrent_, counted, context, in, out, scope,
        [change](Request& request, Response&) { return refusal_of_change(request.options().name(), change); });
  });
}

ProjectionsService::ProjectionsService(std::shared_ptr<Kurrent> kurrent)
    : ServiceOf(kurrent->calls), kurrent_(std::move(kurrent)) {
  using Nothing = ::event_store::client::Empty;
  unary({"Create", "CreateProjection"}, [this](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
    return answer_or_refuse<esproj::CreateReq, esproj::CreateResp>(
        kurrent_, counted, context, in, out, Scope::admin,
        [](esproj::CreateReq&, esproj::CreateResp&) -> std::optional<Refusal> {
          return not_served("projections in JavaScript are not served");
        });
  });
  changes<esproj::UpdateReq, esproj::UpdateResp>({"Update", "UpdateProjection"}, Scope::admin,
                                                 ProjectionChange::update);
  changes<esproj::DeleteReq, esproj::DeleteResp>({"Delete", "DeleteProjection"}, Scope::admin,
                                                 ProjectionChange::remove);
  changes<esproj::DisableReq, esproj::DisableResp>({"Disable", "DisableProjection"}, Scope::admin,
                                                   ProjectionChange::disable);
  changes<esproj::EnableReq, esproj::EnableResp>({"Enable", "EnableProjection"}, Scope::admin,
                                                 ProjectionChange::enable);
  changes<esproj::ResetReq, esproj::ResetResp>({"Reset", "ResetProjection"}, Scope::admin, ProjectionChange::reset);
  changes<esproj::StateReq, esproj::StateResp>({"State", "ProjectionState"}, Scope::read, ProjectionChange::state);
  changes<esproj::ResultReq, esproj::ResultResp>({"Result", "ProjectionResult"}, Scope::read, ProjectionChange::state);
  pages({"Statistics", "ProjectionStatistics"}, [this](Counted& counted, Context* context, const Bytes* in) {
    return StatisticsCall::start(kurrent_, counted, context, in);
  });
  // Nothing of them runs by itself.
  unary({"RestartSubsystem", "RestartProjections"},
        [this](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
          return answer_or_refuse<Nothing, Nothing>(
              kurrent_, counted, context, in, out, Scope::admin,
              [](Nothing&, Nothing&) -> std::optional<Refusal> { return std::nullopt; });
        });
}

}  // namespace evershard::kurrent
