#include "evershard/doors/remote/remote_administration.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "evershard/api/messages/administration_messages.hpp"
#include "evershard/api/messages/cluster_messages.hpp"
#include "evershard/doors/remote/followed_work.hpp"

namespace evershard::remote {
namespace {

class AskedAdministration final : public RemoteAdministration {
 public:
  explicit AskedAdministration(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<StoreStats> stats() const override {
    pb::StatsResponse response;
    EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
      return door.administration->Stats(&context, {}, &response);
    }));
    StoreStats stats;
    EVERSHARD_TRY(messages::get(response, stats));
    return stats;
  }

  Result<void> flush() override {
    pb::FlushResponse response;
    return connection_->ask(
        [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
          return door.administration->Flush(&context, {}, &response);
        },
        Connection::Again::not_reached);
  }

  Result<VerifyReport> verify(Progress progress) override {
    VerifyReport report;
    Result<void> read;
    EVERSHARD_TRY(follow_work<pb::VerifyResponse>(
        *connection_, progress,
        [&](Door& door, grpc::ClientContext& context) { return door.administration->Verify(&context, {}); },
        [&](pb::VerifyResponse& response) { read = messages::get(*response.mutable_report(), report); }));
    EVERSHARD_TRY(read);
    return report;
  }

  Result<void> vacuum(Progress progress) override {
    return follow_work<pb::VacuumResponse>(
        *connection_, progress,
        [&](Door& door, grpc::ClientContext& context) { return door.administration->Vacuum(&context, {}); },
        [](const pb::VacuumResponse&) {});
  }

  Result<GlobalPosition> backup(const std::filesystem::path& target, BackupOptions options,
                                Progress progress) override {
    pb::BackupRequest request;
    request.set_target(target.string());
    request.set_truth_only(options.truth_only);
    if (options.up_to) request.set_up_to(options.up_to->value);
    GlobalPosition end;
    std::vector<std::string> without_state, left_out;
    EVERSHARD_TRY(follow_work<pb::BackupResponse>(
        *connection_, progress,
        [&](Door& door, grpc::ClientContext& context) { return door.administration->Backup(&context, request); },
        [&](const pb::BackupResponse& response) {
          end = GlobalPosition(response.up_to());
          without_state.insert(without_state.end(), response.without_state().begin(), response.without_state().end());
          left_out.insert(left_out.end(), response.left_out().begin(), response.left_out().end());
        }));
    if (options.left_out) std::ranges::for_each(left_out, options.left_out);
    if (!options.without_state) return end;
    for (const auto& name : without_state) {
      const auto aggregate = AggregateId::parse(name);
      if (!aggregate) return refuse(aggregate.error());
      options.without_state(*aggregate);
    }
    return end;
  }

  Result<ClusterStatus> status() override {
    pb::ClusterStatusResponse response;
    EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
      return door.administration->ClusterStatus(&context, {}, &response);
    }));
    ClusterStatus status;
    EVERSHARD_TRY(messages::get(response, status));
    return status;
  }

  Result<ShardsAssigned> assign(const ShardAssignment& wanted) override {
    pb::ClusterAssignRequest request;
    messages::put(wanted, request);
    pb::ClusterAssignResponse response;
    EVERSHARD_TRY(connection_->ask(
        [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
          return door.administration->ClusterAssign(&context, request, &response);
        },
        Connection::Again::not_reached));
    ShardsAssigned assigned;
    EVERSHARD_TRY(messages::get(response, assigned));
    return assigned;
  }

  Result<void> copy_part(const PartWanted& wanted, PartTaker& taker, const Progress& progress) override {
    pb::CopyPartRequest request;
    for (const ShardId shard : wanted.shards) request.add_shards(shard.value);
    request.set_at_least(wanted.at_least.value);
    request.set_head_only(wanted.head_only);
    Result<void> taken;
    bool whole = false;
    std::atomic<bool> refused{false};
    const auto watching = [&](std::uint64_t done, std::uint64_t total) {
      return !refused && (!progress || progress(done, total));
    };
    auto followed = follow_work<pb::CopyPartResponse>(
        *connection_, watching,
        [&](Door& door, grpc::ClientContext& context) { return door.administration->CopyPart(&context, request); },
        [&](const pb::CopyPartResponse& response) {
          if (!taken) return;
          taken = take(response, taker);
          whole = whole || response.whole();
          refused = !taken;
        });
    EVERSHARD_TRY(taken);
    EVERSHARD_TRY(followed);
    if (!whole) return refuse(ErrorCode::unavailable, "the node ended before it had given all of its part");
    return {};
  }

 private:
  static Result<void> take(const pb::CopyPartResponse& response, PartTaker& taker) {
    if (response.has_head()) {
      PartTaker::Head head{
          response.head().identity(), GlobalPosition{response.head().watermark()}, {}, response.head().types()};
      for (const auto shard : response.head().shards())
        head.shards.push_back(ShardId{static_cast<std::uint16_t>(shard)});
      EVERSHARD_TRY(taker.head(head));
    }
    for (const auto& row : response.rows())
      EVERSHARD_TRY(taker.row(static_cast<std::uint8_t>(row.family()), row.key(), row.value()));
    return {};
  }

  const std::shared_ptr<Connection> connection_;
};

}  // namespace

std::unique_ptr<RemoteAdministration> remote_administration(std::shared_ptr<Connection> connection) {
  return std::make_unique<AskedAdministration>(std::move(connection));
}

}  // namespace evershard::remote
