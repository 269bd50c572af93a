#include "evershard/doors/grpc/administration_service.hpp"

#include "evershard/store/messages/administration_messages.hpp"
#include "evershard/store/messages/cluster_messages.hpp"

namespace evershard::door {
namespace {

Refused no_cluster() {
  return refuse(ErrorCode::invalid_argument, "this server's store is one process, it has no cluster");
}

}  // namespace

AdministrationService::AdministrationService(Calls& calls) : ServiceOf(calls) {
  answers<pb::StatsRequest, pb::StatsResponse>("Stats", Scope::read, [this](auto&, auto& response) -> Result<void> {
    const auto stats = calls_.served.administration.stats();
    if (!stats) return refuse(stats.error());
    messages::put(*stats, response);
    return {};
  });
  answers<pb::FlushRequest, pb::FlushResponse>("Flush", Scope::admin, [this](pb::FlushRequest&, pb::FlushResponse&) {
    return calls_.served.administration.flush();
  });
  works<pb::VerifyRequest, pb::VerifyResponse>(
      "Verify", [this](pb::VerifyRequest&, const Progress& progress) -> Result<pb::VerifyResponse> {
        const auto report = calls_.served.administration.verify(progress);
        if (!report) return refuse(report.error());
        pb::VerifyResponse response;
        messages::put(*report, *response.mutable_report());
        return response;
      });
  works<pb::VacuumRequest, pb::VacuumResponse>(
      "Vacuum", [this](pb::VacuumRequest&, const Progress& progress) -> Result<pb::VacuumResponse> {
        EVERSHARD_TRY(calls_.served.administration.vacuum(progress));
        return pb::VacuumResponse();
      });
  works<pb::BackupRequest, pb::BackupResponse>(
      "Backup", [this](pb::BackupRequest& request, const Progress& progress) -> Result<pb::BackupResponse> {
        if (request.target().empty()) return refuse(ErrorCode::invalid_argument, "target: is missing");
        BackupOptions options{.truth_only = request.truth_only()};
        if (request.has_up_to()) options.up_to = GlobalPosition(request.up_to());
        const auto end = calls_.served.administration.backup(request.target(), options, progress);
        if (!end) return refuse(end.error());
        pb::BackupResponse response;
        response.set_up_to(end->value);
        return response;
      });
  answers<pb::ClusterStatusRequest, pb::ClusterStatusResponse>(
      "ClusterStatus", Scope::admin,
      [this](pb::ClusterStatusRequest&, pb::ClusterStatusResponse& response) -> Result<void> {
        if (calls_.served.cluster == nullptr) return no_cluster();
        const auto status = calls_.served.cluster->status();
        if (!status) return refuse(status.error());
        messages::put(*status, response);
        return {};
      });
  answers<pb::ClusterAssignRequest, pb::ClusterAssignResponse>(
      "ClusterAssign", Scope::admin,
      [this](pb::ClusterAssignRequest& request, pb::ClusterAssignResponse& response) -> Result<void> {
        if (calls_.served.cluster == nullptr) return no_cluster();
        ShardAssignment wanted;
        EVERSHARD_TRY(messages::get(request, wanted));
        const auto assigned = calls_.served.cluster->assign(wanted);
        if (!assigned) return refuse(assigned.error());
        messages::put(*assigned, response);
        return {};
      });
}

}  // namespace evershard::door
