#include "evershard/doors/grpc/event_service.hpp"

#include "evershard/api/calls/event_calls.hpp"
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
  offers(calls::event_calls(), [this]() -> Result<EventStore*> { return &calls_.served.store; });
  answers<pb::GetStateRequest, pb::GetStateResponse>(
      "GetState", Scope::read, [this](pb::GetStateRequest& request, pb::GetStateResponse& response) -> Result<void> {
        if (!request.has_aggregate()) return refuse(ErrorCode::invalid_argument, "aggregate: is missing");
        serving::StateAsked asked{messages::aggregate_of(request.aggregate())};
        EVERSHARD_TRY(AggregateId::check(asked.aggregate));
        if (request.has_version()) asked.version = request.version();
        if (request.has_up_to()) asked.up_to = GlobalPosition(request.up_to());
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
