#include "evershard/doors/grpc/administration_service.hpp"

#include "evershard/doors/grpc/work_call.hpp"
#include "evershard/store/messages/cluster_messages.hpp"
#include "evershard/store/messages/messages.hpp"

namespace evershard::door {
namespace {

Refused no_cluster() {
  return refuse(ErrorCode::invalid_argument, "this server's store is one process, it has no cluster");
}

}  // namespace

grpc::ServerUnaryReactor* AdministrationService::Stats(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::StatsRequest, pb::StatsResponse>(
      calls_, Method::stats, context, in, out, serving::Scope::read,
      [this](pb::StatsRequest&, pb::StatsResponse& response) -> Result<void> {
        const auto stats = calls_.served.administration.stats();
        if (!stats) return refuse(stats.error());
        messages::put(*stats, response);
        return {};
      });
}

grpc::ServerUnaryReactor* AdministrationService::Flush(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::FlushRequest, pb::FlushResponse>(
      calls_, Method::flush, context, in, out, serving::Scope::admin,
      [this](pb::FlushRequest&, pb::FlushResponse&) { return calls_.served.administration.flush(); });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* AdministrationService::Verify(Context* context, const Bytes* in) {
  return WorkCall<pb::VerifyRequest, pb::VerifyResponse>::start(
      calls_, Method::verify, context, in,
      [this](pb::VerifyRequest&, const Progress& progress) -> Result<pb::VerifyResponse> {
        const auto report = calls_.served.administration.verify(progress);
        if (!report) return refuse(report.error());
        pb::VerifyResponse response;
        messages::put(*report, *response.mutable_report());
        return response;
      });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* AdministrationService::Vacuum(Context* context, const Bytes* in) {
  return WorkCall<pb::VacuumRequest, pb::VacuumResponse>::start(
      calls_, Method::vacuum, context, in,
      [this](pb::VacuumRequest&, const Progress& progress) -> Result<pb::VacuumResponse> {
        EVERSHARD_TRY(calls_.served.administration.vacuum(progress));
        return pb::VacuumResponse();
      });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* AdministrationService::Backup(Context* context, const Bytes* in) {
  return WorkCall<pb::BackupRequest, pb::BackupResponse>::start(
      calls_, Method::backup, context, in,
      [this](pb::BackupRequest& request, const Progress& progress) -> Result<pb::BackupResponse> {
        if (request.target().empty()) return refuse(ErrorCode::invalid_argument, "target: is missing");
        BackupOptions options{.truth_only = request.truth_only()};
        if (request.has_up_to()) options.up_to = GlobalPosition(request.up_to());
        const auto end = calls_.served.administration.backup(request.target(), options, progress);
        if (!end) return refuse(end.error());
        pb::BackupResponse response;
        response.set_up_to(end->value);
        return response;
      });
}

grpc::ServerUnaryReactor* AdministrationService::ClusterStatus(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::ClusterStatusRequest, pb::ClusterStatusResponse>(
      calls_, Method::cluster_status, context, in, out, serving::Scope::admin,
      [this](pb::ClusterStatusRequest&, pb::ClusterStatusResponse& response) -> Result<void> {
        if (calls_.served.cluster == nullptr) return no_cluster();
        const auto status = calls_.served.cluster->status();
        if (!status) return refuse(status.error());
        messages::put(*status, response);
        return {};
      });
}

grpc::ServerUnaryReactor* AdministrationService::ClusterAssign(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::ClusterAssignRequest, pb::ClusterAssignResponse>(
      calls_, Method::cluster_assign, context, in, out, serving::Scope::admin,
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
