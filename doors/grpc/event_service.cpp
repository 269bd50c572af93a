#include "evershard/doors/grpc/event_service.hpp"

#include <algorithm>

#include "evershard/api/json/types_file.hpp"
#include "evershard/api/messages/messages.hpp"
#include "evershard/doors/grpc/append_call.hpp"
#include "evershard/doors/grpc/append_many_call.hpp"
#include "evershard/doors/grpc/read_call.hpp"
#include "evershard/doors/grpc/subscribe_call.hpp"
#include "evershard/doors/serving/aggregate_state.hpp"
#include "evershard/doors/serving/operators_writes.hpp"

namespace evershard::door {
namespace {

constexpr std::uint32_t aggregates_default = 1'000;
constexpr std::uint32_t aggregates_max = 10'000;

Result<AggregateId> required_aggregate(bool given, const pb::AggregateId& from) {
  if (!given) return refuse(ErrorCode::invalid_argument, "aggregate: is missing");
  return messages::aggregate_of(from);
}

std::optional<GlobalPosition> position_if(bool given, std::uint64_t value) {
  return given ? std::optional(GlobalPosition(value)) : std::nullopt;
}

void put_view(const ClusterView& view, Membership& to) {
  to.here = view.self;
  for (const auto& node : view.nodes) to.members.push_back({node.node, node.door});
  for (const auto& shard : view.shards) {
    to.owners.push_back(shard.node);
    to.epochs.push_back(shard.epoch);
  }
}

}  // namespace

EventService::EventService(Calls& calls) : ServiceOf(calls), types_(calls.served.types) {
  unary("Append", [this](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
    return answer_append(calls_, counted, context, in, out);
  });
  both_ways("AppendMany",
            [this](Counted& counted, Context* context) { return AppendManyCall::start(calls_, counted, context); });
  pages("Read", [this](Counted& counted, Context* context, const Bytes* in) {
    return ReadCall::start(calls_, counted, context, in);
  });
  pages("Subscribe", [this](Counted& counted, Context* context, const Bytes* in) {
    return SubscribeCall::start(calls_, counted, context, in);
  });
  answers<pb::HeadRequest, pb::HeadResponse>("Head", Scope::read, [this](auto&, auto& response) -> Result<void> {
    const auto head = calls_.served.store.head();
    if (!head) return refuse(head.error());
    response.set_watermark(head->value);
    return {};
  });
  answers<pb::GetEventRequest, pb::RecordedEvent>(
      "GetEvent", Scope::read, [this](pb::GetEventRequest& request, pb::RecordedEvent& response) -> Result<void> {
        const auto event = calls_.served.store.event_at(GlobalPosition(request.position()));
        if (!event) return refuse(event.error());
        messages::put(*event, response);
        return {};
      });
  answers<pb::GetAggregateRequest, pb::AggregateInfo>(
      "GetAggregate", Scope::read,
      [this](pb::GetAggregateRequest& request, pb::AggregateInfo& response) -> Result<void> {
        const auto aggregate = required_aggregate(request.has_aggregate(), request.aggregate());
        if (!aggregate) return refuse(aggregate.error());
        const auto info = calls_.served.store.aggregate(*aggregate, position_if(request.has_up_to(), request.up_to()));
        if (!info) return refuse(info.error());
        messages::put(*info, response);
        return {};
      });
  answers<pb::ListAggregatesRequest, pb::ListAggregatesResponse>(
      "ListAggregates", Scope::read,
      [this](pb::ListAggregatesRequest& request, pb::ListAggregatesResponse& response) -> Result<void> {
        const auto type = request.has_type() ? std::optional(request.type()) : std::nullopt;
        const auto after = request.has_after() ? std::optional(messages::aggregate_of(request.after())) : std::nullopt;
        const auto limit = std::min(request.has_limit() ? request.limit() : aggregates_default, aggregates_max);
        const auto aggregates = calls_.served.store.aggregates(type, after, limit);
        if (!aggregates) return refuse(aggregates.error());
        for (const auto& info : *aggregates) messages::put(info, *response.add_aggregates());
        return {};
      });
  answers<pb::GetStateRequest, pb::GetStateResponse>(
      "GetState", Scope::read, [this](pb::GetStateRequest& request, pb::GetStateResponse& response) -> Result<void> {
        auto aggregate = required_aggregate(request.has_aggregate(), request.aggregate());
        if (!aggregate) return refuse(aggregate.error());
        EVERSHARD_TRY(AggregateId::check(*aggregate));
        serving::StateAsked asked{*std::move(aggregate)};
        if (request.has_version()) asked.version = request.version();
        asked.up_to = position_if(request.has_up_to(), request.up_to());
        if (request.has_limit()) asked.limit = request.limit();
        const auto types = types_.lease();
        if (!types) return refuse(types.error());
        auto state = serving::written_state(calls_.served.store, asked, **types);
        if (!state) return refuse(std::move(state).error());
        calls_.served.metrics->events_read(calls_.speaks, state->events);
        response.set_json(std::move(state->json));
        return {};
      });
  answers<pb::Snapshot, pb::PutSnapshotResponse>(
      "PutSnapshot", Scope::append,
      [this](const serving::Caller& caller, pb::Snapshot& request, pb::PutSnapshotResponse&) -> Result<void> {
        Snapshot snapshot;
        EVERSHARD_TRY(messages::get(request, snapshot));
        EVERSHARD_TRY(serving::check_operators_writes(caller, snapshot));
        return calls_.served.store.put_snapshot(std::move(snapshot));
      });
  answers<pb::GetSnapshotRequest, pb::GetSnapshotResponse>(
      "GetSnapshot", Scope::read,
      [this](pb::GetSnapshotRequest& request, pb::GetSnapshotResponse& response) -> Result<void> {
        const auto aggregate = required_aggregate(request.has_aggregate(), request.aggregate());
        if (!aggregate) return refuse(aggregate.error());
        if (request.has_up_to() && request.has_at_or_before()) {
          return refuse(ErrorCode::invalid_argument,
                        "up_to: a snapshot is asked for by version or by position, not by both");
        }
        auto& store = calls_.served.store;
        const auto snapshot =
            request.has_up_to()
                ? store.snapshot_as_of(*aggregate, GlobalPosition(request.up_to()))
                : store.snapshot(*aggregate, request.has_at_or_before() ? std::optional(SeqNr(request.at_or_before()))
                                                                        : std::nullopt);
        if (!snapshot) return refuse(snapshot.error());
        if (*snapshot) messages::put(**snapshot, *response.mutable_snapshot());
        return {};
      });
  answers<pb::ListSnapshotsRequest, pb::ListSnapshotsResponse>(
      "ListSnapshots", Scope::read,
      [this](pb::ListSnapshotsRequest& request, pb::ListSnapshotsResponse& response) -> Result<void> {
        const auto aggregate = required_aggregate(request.has_aggregate(), request.aggregate());
        if (!aggregate) return refuse(aggregate.error());
        const auto snapshots = calls_.served.store.snapshots(*aggregate);
        if (!snapshots) return refuse(snapshots.error());
        for (const auto& snapshot : *snapshots) messages::put(snapshot, *response.add_snapshots());
        return {};
      });
  answers<pb::GetTypesRequest, pb::GetTypesResponse>(
      "GetTypes", Scope::read, [this](pb::GetTypesRequest&, pb::GetTypesResponse& response) -> Result<void> {
        const auto types = calls_.served.types();
        if (!types) return refuse(types.error());
        if (!types->empty()) response.set_types(encode_types(*types));
        return {};
      });
  answers<pb::MembersRequest, pb::MembersResponse>(
      "Members", Scope::read, [this](pb::MembersRequest&, pb::MembersResponse& response) -> Result<void> {
        const auto stats = calls_.served.administration.stats();
        if (!stats) return refuse(stats.error());
        Membership told;
        told.store_id = stats->info.store_id;
        told.fork_id = stats->info.fork_id;
        told.shards = stats->info.shards;
        told.hash = stats->info.hash;
        if (calls_.served.cluster != nullptr) put_view(calls_.served.cluster->view(), told);
        messages::put(told, response);
        return {};
      });
}

}  // namespace evershard::door
