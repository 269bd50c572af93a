#include "evershard/doors/remote/remote.hpp"

#include <algorithm>
#include <future>
#include <limits>
#include <thread>
#include <utility>

#include "evershard/api/calls/documents_calls.hpp"
#include "evershard/api/calls/processes_calls.hpp"
#include "evershard/api/calls/projections_calls.hpp"
#include "evershard/api/calls/scheduled_calls.hpp"
#include "evershard/api/calls/tables_calls.hpp"
#include "evershard/api/messages/messages.hpp"
#include "evershard/doors/remote/append_lanes.hpp"
#include "evershard/doors/remote/connection.hpp"
#include "evershard/doors/remote/door_asker.hpp"
#include "evershard/doors/remote/remote_administration.hpp"
#include "evershard/doors/remote/remote_aggregates.hpp"
#include "evershard/doors/remote/remote_feed.hpp"
#include "evershard/doors/remote/remote_groups.hpp"
#include "evershard/doors/remote/remote_pages.hpp"
#include "evershard/doors/remote/remote_retention.hpp"
#include "evershard/protocol/validate.hpp"

namespace evershard {

using remote::Connection;
namespace pb = evershard::v1;

struct Remote::Impl {
  explicit Impl(std::shared_ptr<Connection> c)
      : connection(std::move(c)),
        asker(std::make_shared<remote::DoorAsker>(connection)),
        appends(std::make_shared<remote::AppendLanes>(connection)),
        administration(remote::remote_administration(connection)),
        projections(asker),
        groups(connection, asker),
        documents(asker),
        tables(asker),
        retention(connection),
        scheduled(asker),
        processes(asker) {}
  ~Impl() { appends->close(); }
  std::shared_ptr<Connection> connection;
  std::shared_ptr<remote::DoorAsker> asker;
  std::shared_ptr<remote::AppendLanes> appends;
  std::unique_ptr<remote::RemoteAdministration> administration;
  calls::AskedProjections projections;
  remote::RemoteGroups groups;
  calls::AskedDocuments documents;
  calls::AskedTables tables;
  remote::RemoteRetention retention;
  calls::AskedScheduled scheduled;
  calls::AskedProcesses processes;
};

namespace {

/// Without a name a retry would be another append. What has one (the request's id, or some event's) gets the ids that
/// follow from it from the store, the same at every attempt.
void give_ids(Append& append) {
  if (append.request_id ||
      std::any_of(append.events.begin(), append.events.end(), [](const Event& event) { return event.id.given(); }))
    return;
  for (auto& event : append.events) event.id = EventId::random();
}

/// On the wire: 32 bits, and nothing before now.
std::uint32_t wire_ms(std::chrono::milliseconds time) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(time.count(), 0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

Result<Remote> Remote::connect(RemoteOptions options) {
  auto connection = Connection::make(options);
  if (!connection) return refuse(std::move(connection).error());
  return Remote(std::make_unique<Impl>(*std::move(connection)));
}

Remote::Remote(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Remote::Remote(Remote&&) noexcept = default;
Remote& Remote::operator=(Remote&&) noexcept = default;
Remote::~Remote() = default;

namespace {

/// Whether another try may have another outcome. `timeout`: the append may be stored; the same append again tells.
bool another_time(ErrorCode code, bool several) {
  if (code == ErrorCode::overloaded) return true;
  return several && (code == ErrorCode::unavailable || code == ErrorCode::wrong_shard || code == ErrorCode::fenced ||
                     code == ErrorCode::timeout);
}

}  // namespace

Result<Appended> Remote::append(Append append) {
  give_ids(append);
  const auto& connection = impl_->connection;
  const auto deadline = Connection::Clock::now() + connection->options().timeout;
  const auto began = remote::ToldPatience::Clock::now();
  remote::ToldPatience patience(connection->options().unavailable_timeout);
  remote::WriteOutcome outcome;
  for (std::uint32_t tries = 0;; ++tries) {
    auto done = append_once(append);
    if (done) return done;
    const auto code = done.error().code;
    outcome.failed(done.error(), true);
    const auto now = remote::ToldPatience::Clock::now();
    // A server that says `timeout` has waited itself; one that has no room says when to come again.
    const bool waited = code == ErrorCode::timeout && now - began >= connection->options().unavailable_timeout;
    const bool borne = code == ErrorCode::overloaded || (patience.bears(done.error(), now) && !waited);
    const auto pause = remote::pause_before(
        tries, code == ErrorCode::overloaded ? connection->full_for() : std::chrono::milliseconds(0));
    if (!another_time(code, connection->several()) || !borne || Connection::Clock::now() + pause >= deadline)
      return refuse(outcome.end(std::move(done).error(), true));
    if (code != ErrorCode::overloaded) connection->learn_shards(true);
    std::this_thread::sleep_for(pause);
  }
}

Result<Appended> Remote::append_once(const Append& append) {
  auto promise = std::make_shared<std::promise<Result<Appended>>>();
  auto answer = promise->get_future();
  append_async(append, [promise](Result<Appended> result) { promise->set_value(std::move(result)); });
  return answer.get();
}

void Remote::append_async(Append append, AppendCompletion done) {
  give_ids(append);
  // What no store would take cannot always be put into a message either; the server has limits of its own.
  if (auto checked = check(append, Limits::most()); !checked) return done(refuse(std::move(checked).error()));
  impl_->appends->send(std::move(append), std::move(done));
}

EventStream Remote::read(Query query, ReadOptions options) {
  if (auto checked = query.check(); !checked) return EventStream(std::move(checked).error());
  pb::ReadRequest request;
  messages::put(query, *request.mutable_query());
  const auto at_least = std::exchange(options.at_least, std::nullopt);
  messages::put(options, *request.mutable_options());
  return EventStream(std::make_unique<remote::RemotePages>(impl_->connection, std::move(request), at_least));
}

EventStream Remote::read(AggregateId aggregate, StreamOptions options) {
  if (auto checked = AggregateId::check(aggregate); !checked) return EventStream(std::move(checked).error());
  pb::ReadRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  messages::put(options, *request.mutable_stream());
  return EventStream(std::make_unique<remote::RemotePages>(impl_->connection, std::move(request), std::nullopt));
}

EventFeed Remote::follow(Query query, FollowOptions options) {
  if (auto checked = query.check(); !checked) return EventFeed(std::move(checked).error());
  if (options.page_events_max == 0)
    return EventFeed(Error(ErrorCode::invalid_argument, "a feed with pages of 0 events gives nothing"));
  pb::SubscribeRequest request;
  messages::put(query, *request.mutable_query());
  request.set_after(options.after.value);
  // A position is of the fork that this client was answered by.
  if (options.after.value != 0) request.set_fork_id(impl_->connection->fork());
  request.set_page_events_max(static_cast<std::uint32_t>(
      std::min<std::size_t>(options.page_events_max, std::numeric_limits<std::uint32_t>::max())));
  return EventFeed(std::make_unique<remote::RemoteFeed>(impl_->connection, std::move(request)));
}

namespace {

/// A call that waits for what was seen, or for what is asked for, and then reads.
///
/// Shape: `call`: grpc::Status(Door&, grpc::ClientContext&), sends `request`
template <class Request, class Call>
Result<void> ask_behind(Connection& connection, Request& request, Call call, std::optional<GlobalPosition> asked = {},
                        std::optional<std::chrono::milliseconds> timeout = {}) {
  const auto position = connection.at_least(asked);
  return connection.ask(
      timeout.value_or(connection.options().timeout),
      [&](remote::Door& door, grpc::ClientContext& context, std::chrono::milliseconds left) {
        if (position) {
          request.mutable_at_least()->set_position(position->value);
          request.mutable_at_least()->set_timeout_ms(wire_ms(connection.wait_at_one(left)));
        }
        return call(door, context);
      },
      Connection::Again::not_served, position ? Connection::answer_grace : std::chrono::milliseconds(0));
}

}  // namespace

Result<GlobalPosition> Remote::head() {
  pb::HeadRequest request;
  pb::HeadResponse response;
  EVERSHARD_TRY(ask_behind(*impl_->connection, request, [&](remote::Door& door, grpc::ClientContext& context) {
    return door.events->Head(&context, request, &response);
  }));
  see(GlobalPosition(response.watermark()));
  return GlobalPosition(response.watermark());
}

Result<GlobalPosition> Remote::wait_for(GlobalPosition position, std::chrono::milliseconds timeout) {
  pb::HeadRequest request;
  pb::HeadResponse response;
  EVERSHARD_TRY(ask_behind(
      *impl_->connection, request,
      [&](remote::Door& door, grpc::ClientContext& context) { return door.events->Head(&context, request, &response); },
      position, std::chrono::milliseconds(wire_ms(timeout))));
  see(GlobalPosition(response.watermark()));
  return GlobalPosition(response.watermark());
}

Processes& Remote::processes() { return impl_->processes; }
AnyAnswer Remote::ask(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options) {
  return remote::ask(*impl_->connection, aggregate, std::move(command_type), std::move(command), std::move(options));
}
Result<HostedKinds> Remote::kinds() { return remote::hosted_kinds(*impl_->connection); }
ScheduledAppends& Remote::scheduled() { return impl_->scheduled; }
Documents& Remote::documents() { return impl_->documents; }

GlobalPosition Remote::seen() const { return impl_->connection->seen(); }

void Remote::see(GlobalPosition position) { impl_->connection->see(position); }

Result<AggregateInfo> Remote::aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::GetAggregateRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  if (up_to) request.set_up_to(up_to->value);
  pb::AggregateInfo response;
  EVERSHARD_TRY(ask_behind(*impl_->connection, request, [&](remote::Door& door, grpc::ClientContext& context) {
    return door.events->GetAggregate(&context, request, &response);
  }));
  AggregateInfo info;
  EVERSHARD_TRY(messages::get(response, info));
  see(info.last_position);
  return info;
}

Result<std::vector<AggregateInfo>> Remote::aggregates(std::optional<std::string> type, std::optional<AggregateId> after,
                                                      std::size_t limit) {
  if (type) EVERSHARD_TRY(AggregateId::check({*type, "x"}));
  if (after) EVERSHARD_TRY(AggregateId::check(*after));
  std::vector<AggregateInfo> aggregates;
  while (aggregates.size() < limit) {
    pb::ListAggregatesRequest request;
    if (type) request.set_type(*type);
    if (after) messages::put(*after, *request.mutable_after());
    request.set_limit(static_cast<std::uint32_t>(std::min<std::size_t>(limit - aggregates.size(), 10'000)));
    pb::ListAggregatesResponse response;
    EVERSHARD_TRY(ask_behind(*impl_->connection, request, [&](remote::Door& door, grpc::ClientContext& context) {
      return door.events->ListAggregates(&context, request, &response);
    }));
    for (const auto& one : response.aggregates()) {
      aggregates.emplace_back();
      EVERSHARD_TRY(messages::get(one, aggregates.back()));
    }
    if (static_cast<std::uint32_t>(response.aggregates_size()) < request.limit()) break;
    after = aggregates.back().aggregate;
  }
  return aggregates;
}

Result<RecordedEvent> Remote::event_at(GlobalPosition position) {
  pb::GetEventRequest request;
  request.set_position(position.value);
  pb::RecordedEvent response;
  EVERSHARD_TRY(ask_behind(*impl_->connection, request, [&](remote::Door& door, grpc::ClientContext& context) {
    return door.events->GetEvent(&context, request, &response);
  }));
  RecordedEvent event;
  EVERSHARD_TRY(messages::get(response, event));
  see(event.position);
  return event;
}

namespace {

/// What a write waits for before it is sent did not come: nothing of it has arrived.
grpc::Status not_begun(const remote::Door& door, const grpc::Status& status) {
  const auto error = wire::error_of(status);
  const bool told = !status.error_details().empty();
  if (error.code != ErrorCode::timeout && (told || error.code != ErrorCode::unavailable)) return status;
  return {grpc::StatusCode::UNAVAILABLE, remote::no_connection + door.address + " that has come so far: " + error.what};
}

}  // namespace

Result<void> Remote::put_snapshot(Snapshot snapshot) {
  EVERSHARD_TRY(check(snapshot, Limits::most()));
  pb::Snapshot request;
  messages::put(snapshot, request);
  pb::PutSnapshotResponse response;
  return impl_->connection->ask(
      [&](remote::Door& door, grpc::ClientContext& context, std::chrono::milliseconds left) {
        if (const auto position = impl_->connection->at_least({}); position && impl_->connection->several()) {
          // The version may be so new that this node has not heard of it.
          pb::HeadRequest head;
          head.mutable_at_least()->set_position(position->value);
          head.mutable_at_least()->set_timeout_ms(wire_ms(impl_->connection->wait_at_one(left)));
          auto waiting = impl_->connection->context();
          waiting->set_deadline(context.deadline());
          pb::HeadResponse there;
          if (auto status = door.events->Head(waiting.get(), head, &there); !status.ok())
            return not_begun(door, status);
        }
        return door.events->PutSnapshot(&context, request, &response);
      },
      Connection::Again::named);
}

namespace {

Result<std::optional<RecordedSnapshot>> snapshot_of(Connection& connection, pb::GetSnapshotRequest& request) {
  pb::GetSnapshotResponse response;
  EVERSHARD_TRY(ask_behind(connection, request, [&](remote::Door& door, grpc::ClientContext& context) {
    return door.events->GetSnapshot(&context, request, &response);
  }));
  std::optional<RecordedSnapshot> snapshot;
  if (response.has_snapshot()) EVERSHARD_TRY(messages::get(*response.mutable_snapshot(), snapshot.emplace()));
  return snapshot;
}

}  // namespace

Result<std::optional<RecordedSnapshot>> Remote::snapshot(const AggregateId& aggregate,
                                                         std::optional<SeqNr> at_or_before) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::GetSnapshotRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  if (at_or_before) request.set_at_or_before(at_or_before->value);
  return snapshot_of(*impl_->connection, request);
}

Result<std::optional<RecordedSnapshot>> Remote::snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::GetSnapshotRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  request.set_up_to(up_to.value);
  return snapshot_of(*impl_->connection, request);
}

Result<std::vector<RecordedSnapshot>> Remote::snapshots(const AggregateId& aggregate) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::ListSnapshotsRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  pb::ListSnapshotsResponse response;
  EVERSHARD_TRY(ask_behind(*impl_->connection, request, [&](remote::Door& door, grpc::ClientContext& context) {
    return door.events->ListSnapshots(&context, request, &response);
  }));
  std::vector<RecordedSnapshot> snapshots(static_cast<std::size_t>(response.snapshots_size()));
  for (int i = 0; i < response.snapshots_size(); ++i)
    EVERSHARD_TRY(messages::get(*response.mutable_snapshots(i), snapshots[static_cast<std::size_t>(i)]));
  return snapshots;
}

Tables& Remote::tables() { return impl_->tables; }

HistoryRetention& Remote::retention() { return impl_->retention; }

Projections& Remote::projections() { return impl_->projections; }

Administration& Remote::administration() const { return *impl_->administration; }

ClusterOrders& Remote::cluster() { return *impl_->administration; }

Groups& Remote::groups() { return impl_->groups; }

Result<std::string> Remote::types() {
  pb::GetTypesResponse response;
  EVERSHARD_TRY(
      impl_->connection->ask([&](remote::Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
        return door.events->GetTypes(&context, {}, &response);
      }));
  return response.types();
}

}  // namespace evershard
