#include "evershard/doors/grpc/administration_service.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "evershard/api/messages/administration_messages.hpp"
#include "evershard/api/messages/cluster_messages.hpp"

namespace evershard::door {
namespace {

Refused no_cluster() {
  return refuse(ErrorCode::invalid_argument, "this server's store is one process, it has no cluster");
}

constexpr int names_in_message_max = 1'000;
constexpr std::size_t part_message_bytes = 512u << 10;

/// Rows in messages of some size.
class PartSender final : public PartTaker {
 public:
  using Give = WorkCall<pb::CopyPartRequest, pb::CopyPartResponse>::Give;
  explicit PartSender(const Give& give) : give_(give) {}

  Result<void> head(const Head& head) override {
    pb::CopyPartResponse message;
    message.mutable_head()->set_identity(head.identity);
    message.mutable_head()->set_watermark(head.watermark.value);
    message.mutable_head()->set_types(head.types);
    for (const ShardId shard : head.shards) message.mutable_head()->add_shards(shard.value);
    return give(message);
  }
  Result<void> row(std::uint8_t family, std::string_view key, std::string_view value) override {
    auto& row = *rows_.add_rows();
    row.set_family(family);
    row.set_key(key.data(), key.size());
    row.set_value(value.data(), value.size());
    bytes_ += key.size() + value.size();
    return bytes_ >= part_message_bytes ? flush() : Result<void>();
  }
  Result<void> flush() {
    if (rows_.rows().empty()) return {};
    const auto given = give(rows_);
    rows_.Clear();
    bytes_ = 0;
    return given;
  }

 private:
  Result<void> give(const pb::CopyPartResponse& message) {
    if (give_(message)) return {};
    return refuse(ErrorCode::cancelled, "nobody takes the part any more");
  }

  const Give& give_;
  pb::CopyPartResponse rows_;
  std::size_t bytes_ = 0;
};

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
  gives<pb::BackupRequest, pb::BackupResponse>(
      "Backup",
      [this](pb::BackupRequest& request, const Progress& progress, const auto& give) -> Result<pb::BackupResponse> {
        if (request.target().empty()) return refuse(ErrorCode::invalid_argument, "target: is missing");
        BackupOptions options{.truth_only = request.truth_only()};
        if (request.has_up_to()) options.up_to = GlobalPosition(request.up_to());
        std::vector<std::string> without_state, left_out;
        options.without_state = [&](const AggregateId& aggregate) { without_state.push_back(aggregate.text()); };
        options.left_out = [&](const std::string& what) { left_out.push_back(what); };
        const auto end = calls_.served.administration.backup(request.target(), options, progress);
        if (!end) return refuse(end.error());
        pb::BackupResponse response;
        // The copy is made: who does not read on misses names, and is not told that the copy was given up.
        const auto make_room = [&] {
          if (response.without_state_size() + response.left_out_size() < names_in_message_max) return;
          give(response);
          response.Clear();
        };
        for (auto& name : without_state) {
          make_room();
          response.add_without_state(std::move(name));
        }
        for (auto& what : left_out) {
          make_room();
          response.add_left_out(std::move(what));
        }
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
  gives<pb::CopyPartRequest, pb::CopyPartResponse>(
      "CopyPart",
      [this](pb::CopyPartRequest& request, const Progress& progress,
             const PartSender::Give& give) -> Result<pb::CopyPartResponse> {
        if (calls_.served.cluster == nullptr) return no_cluster();
        PartWanted wanted{.at_least = GlobalPosition{request.at_least()}, .head_only = request.head_only()};
        for (const auto shard : request.shards()) {
          if (shard > std::numeric_limits<std::uint16_t>::max())
            return refuse(ErrorCode::invalid_argument, "there is no shard " + std::to_string(shard));
          wanted.shards.push_back(ShardId{static_cast<std::uint16_t>(shard)});
        }
        PartSender sender(give);
        EVERSHARD_TRY(calls_.served.cluster->copy_part(wanted, sender, progress));
        EVERSHARD_TRY(sender.flush());
        pb::CopyPartResponse last;
        last.set_whole(true);
        return last;
      });
}

}  // namespace evershard::door
