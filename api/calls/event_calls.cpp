#include "evershard/api/calls/event_calls.hpp"

#include <algorithm>

#include "evershard/api/messages/messages.hpp"

namespace evershard::calls {
namespace {

using messages::put;

constexpr std::uint32_t aggregates_default = 1'000;
constexpr std::uint32_t aggregates_max = 10'000;

template <class Request>
Result<AggregateId> required_aggregate(const Request& in) {
  if (!in.has_aggregate()) return refuse(ErrorCode::invalid_argument, "aggregate: is missing");
  return messages::aggregate_of(in.aggregate());
}

const Row<EventStore, pb::HeadRequest, pb::HeadResponse> head_call(
    "/evershard.v1.EventStore/Head", Scope::read, Again::read, {}, [](EventStore& events, auto&, auto& out) {
      return told(events.head(), [&](GlobalPosition head) { out.set_watermark(head.value); });
    });
const Row<EventStore, pb::PositionAtRequest, pb::PositionAtResponse> position_at_call(
    "/evershard.v1.EventStore/PositionAt", Scope::read, Again::read, {},
    [](EventStore& events, auto& in, auto& out) -> Result<void> {
      if (!in.has_at_us()) return refuse(ErrorCode::invalid_argument, "at_us: is missing");
      return told(events.position_at({in.at_us()}), [&](GlobalPosition found) { out.set_position(found.value); });
    });
const Row<EventStore, pb::GetEventRequest, pb::RecordedEvent> event_call(
    "/evershard.v1.EventStore/GetEvent", Scope::read, Again::read, {}, [](EventStore& events, auto& in, auto& out) {
      return told(events.event_at(GlobalPosition(in.position())), [&](const RecordedEvent& event) { put(event, out); });
    });
const Row<EventStore, pb::GetAggregateRequest, pb::AggregateInfo> aggregate_call(
    "/evershard.v1.EventStore/GetAggregate", Scope::read, Again::read, {},
    [](EventStore& events, auto& in, auto& out) -> Result<void> {
      const auto aggregate = required_aggregate(in);
      if (!aggregate) return refuse(aggregate.error());
      std::optional<GlobalPosition> up_to;
      if (in.has_up_to()) up_to = GlobalPosition(in.up_to());
      return told(events.aggregate(*aggregate, up_to), [&](const AggregateInfo& info) { put(info, out); });
    });
const Row<EventStore, pb::ListAggregatesRequest, pb::ListAggregatesResponse> aggregates_call(
    "/evershard.v1.EventStore/ListAggregates", Scope::read, Again::read, {},
    [](EventStore& events, auto& in, auto& out) {
      const auto type = in.has_type() ? std::optional(in.type()) : std::nullopt;
      const auto after = in.has_after() ? std::optional(messages::aggregate_of(in.after())) : std::nullopt;
      const auto limit = std::min(in.has_limit() ? in.limit() : aggregates_default, aggregates_max);
      return told(events.aggregates(type, after, limit), [&](const std::vector<AggregateInfo>& found) {
        for (const auto& info : found) put(info, *out.add_aggregates());
      });
    });
const Row<EventStore, pb::GetSnapshotRequest, pb::GetSnapshotResponse> snapshot_call(
    "/evershard.v1.EventStore/GetSnapshot", Scope::read, Again::read, {},
    [](EventStore& events, auto& in, auto& out) -> Result<void> {
      const auto aggregate = required_aggregate(in);
      if (!aggregate) return refuse(aggregate.error());
      if (in.has_up_to() && in.has_at_or_before())
        return refuse(ErrorCode::invalid_argument,
                      "up_to: a snapshot is asked for by version or by position, not by both");
      std::optional<SeqNr> version;
      if (in.has_at_or_before()) version = SeqNr(in.at_or_before());
      return told(in.has_up_to() ? events.snapshot_as_of(*aggregate, GlobalPosition(in.up_to()))
                                 : events.snapshot(*aggregate, version),
                  [&](const std::optional<RecordedSnapshot>& snapshot) {
                    if (snapshot) put(*snapshot, *out.mutable_snapshot());
                  });
    });
const Row<EventStore, pb::ListSnapshotsRequest, pb::ListSnapshotsResponse> snapshots_call(
    "/evershard.v1.EventStore/ListSnapshots", Scope::read, Again::read, {},
    [](EventStore& events, auto& in, auto& out) -> Result<void> {
      const auto aggregate = required_aggregate(in);
      if (!aggregate) return refuse(aggregate.error());
      return told(events.snapshots(*aggregate), [&](const std::vector<RecordedSnapshot>& found) {
        for (const auto& snapshot : found) put(snapshot, *out.add_snapshots());
      });
    });

Result<std::optional<RecordedSnapshot>> asked_for_snapshot(Asker& asker, pb::GetSnapshotRequest& request) {
  pb::GetSnapshotResponse response;
  EVERSHARD_TRY(asker.ask(snapshot_call, request, response));
  std::optional<RecordedSnapshot> snapshot;
  if (response.has_snapshot()) EVERSHARD_TRY(messages::get(*response.mutable_snapshot(), snapshot.emplace()));
  return snapshot;
}

}  // namespace

const Calls<EventStore>& event_calls() {
  static const Calls<EventStore> all{&head_call,       &position_at_call, &event_call,    &aggregate_call,
                                     &aggregates_call, &snapshot_call,    &snapshots_call};
  return all;
}

Result<GlobalPosition> AskedEvents::head() {
  pb::HeadRequest request;
  pb::HeadResponse response;
  EVERSHARD_TRY(asker_->ask(head_call, request, response));
  asker_->see(GlobalPosition(response.watermark()));
  return GlobalPosition(response.watermark());
}

Result<GlobalPosition> AskedEvents::position_at(Timestamp at) {
  pb::PositionAtRequest request;
  request.set_at_us(at.micros);
  pb::PositionAtResponse response;
  EVERSHARD_TRY(asker_->ask(position_at_call, request, response));
  asker_->see(GlobalPosition(response.position()));
  return GlobalPosition(response.position());
}

Result<AggregateInfo> AskedEvents::aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::GetAggregateRequest request;
  put(aggregate, *request.mutable_aggregate());
  if (up_to) request.set_up_to(up_to->value);
  pb::AggregateInfo response;
  EVERSHARD_TRY(asker_->ask(aggregate_call, request, response));
  AggregateInfo info;
  EVERSHARD_TRY(messages::get(response, info));
  asker_->see(info.last_position);
  return info;
}

Result<std::vector<AggregateInfo>> AskedEvents::aggregates(std::optional<std::string> type,
                                                           std::optional<AggregateId> after, std::size_t limit) {
  if (type) EVERSHARD_TRY(AggregateId::check({*type, "x"}));
  if (after) EVERSHARD_TRY(AggregateId::check(*after));
  std::vector<AggregateInfo> aggregates;
  while (aggregates.size() < limit) {
    pb::ListAggregatesRequest request;
    if (type) request.set_type(*type);
    if (after) put(*after, *request.mutable_after());
    request.set_limit(static_cast<std::uint32_t>(std::min<std::size_t>(limit - aggregates.size(), aggregates_max)));
    pb::ListAggregatesResponse response;
    EVERSHARD_TRY(asker_->ask(aggregates_call, request, response));
    for (const auto& one : response.aggregates()) {
      aggregates.emplace_back();
      EVERSHARD_TRY(messages::get(one, aggregates.back()));
    }
    if (static_cast<std::uint32_t>(response.aggregates_size()) < request.limit()) break;
    after = aggregates.back().aggregate;
  }
  return aggregates;
}

Result<RecordedEvent> AskedEvents::event_at(GlobalPosition position) {
  pb::GetEventRequest request;
  request.set_position(position.value);
  pb::RecordedEvent response;
  EVERSHARD_TRY(asker_->ask(event_call, request, response));
  RecordedEvent event;
  EVERSHARD_TRY(messages::get(response, event));
  asker_->see(event.position);
  return event;
}

Result<std::optional<RecordedSnapshot>> AskedEvents::snapshot(const AggregateId& aggregate,
                                                              std::optional<SeqNr> at_or_before) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::GetSnapshotRequest request;
  put(aggregate, *request.mutable_aggregate());
  if (at_or_before) request.set_at_or_before(at_or_before->value);
  return asked_for_snapshot(*asker_, request);
}

Result<std::optional<RecordedSnapshot>> AskedEvents::snapshot_as_of(const AggregateId& aggregate,
                                                                    GlobalPosition up_to) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::GetSnapshotRequest request;
  put(aggregate, *request.mutable_aggregate());
  request.set_up_to(up_to.value);
  return asked_for_snapshot(*asker_, request);
}

Result<std::vector<RecordedSnapshot>> AskedEvents::snapshots(const AggregateId& aggregate) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::ListSnapshotsRequest request;
  put(aggregate, *request.mutable_aggregate());
  pb::ListSnapshotsResponse response;
  EVERSHARD_TRY(asker_->ask(snapshots_call, request, response));
  std::vector<RecordedSnapshot> snapshots;
  for (auto& one : *response.mutable_snapshots()) EVERSHARD_TRY(messages::get(one, snapshots.emplace_back()));
  return snapshots;
}

}  // namespace evershard::calls
