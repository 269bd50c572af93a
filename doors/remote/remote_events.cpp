#include "evershard/doors/remote/remote_events.hpp"

#include <algorithm>
#include <future>
#include <limits>
#include <thread>
#include <utility>

#include "evershard/api/messages/messages.hpp"
#include "evershard/doors/remote/remote_feed.hpp"
#include "evershard/doors/remote/remote_pages.hpp"
#include "evershard/protocol/validate.hpp"

namespace evershard::remote {
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

/// Whether another try may have another outcome. `timeout`: the append may be stored; the same append again tells.
bool another_time(ErrorCode code, bool several) {
  if (code == ErrorCode::overloaded) return true;
  return several && (code == ErrorCode::unavailable || code == ErrorCode::wrong_shard || code == ErrorCode::fenced ||
                     code == ErrorCode::timeout);
}

}  // namespace

Result<Appended> RemoteEvents::append(Append append) {
  give_ids(append);
  const auto& connection = connection_;
  const auto deadline = Connection::Clock::now() + connection->options().timeout;
  const auto began = ToldPatience::Clock::now();
  ToldPatience patience(connection->options().unavailable_timeout);
  WriteOutcome outcome;
  for (std::uint32_t tries = 0;; ++tries) {
    auto done = append_once(append);
    if (done) return done;
    const auto code = done.error().code;
    outcome.failed(done.error(), true);
    const auto now = ToldPatience::Clock::now();
    // A server that says `timeout` has waited itself; one that has no room says when to come again.
    const bool waited = code == ErrorCode::timeout && now - began >= connection->options().unavailable_timeout;
    const bool borne = code == ErrorCode::overloaded || (patience.bears(done.error(), now) && !waited);
    const auto pause =
        pause_before(tries, code == ErrorCode::overloaded ? connection->full_for() : std::chrono::milliseconds(0));
    if (!another_time(code, connection->several()) || !borne || Connection::Clock::now() + pause >= deadline)
      return refuse(outcome.end(std::move(done).error(), true));
    if (code != ErrorCode::overloaded) connection->learn_shards(true);
    std::this_thread::sleep_for(pause);
  }
}

Result<Appended> RemoteEvents::append_once(const Append& append) {
  auto promise = std::make_shared<std::promise<Result<Appended>>>();
  auto answer = promise->get_future();
  append_async(append, [promise](Result<Appended> result) { promise->set_value(std::move(result)); });
  return answer.get();
}

void RemoteEvents::append_async(Append append, AppendCompletion done) {
  give_ids(append);
  // What no store would take cannot always be put into a message either; the server has limits of its own.
  if (auto checked = check(append, Limits::most()); !checked) return done(refuse(std::move(checked).error()));
  appends_->send(std::move(append), std::move(done));
}

EventStream RemoteEvents::read(Query query, ReadOptions options) {
  if (auto checked = query.check(); !checked) return EventStream(std::move(checked).error());
  pb::ReadRequest request;
  messages::put(query, *request.mutable_query());
  const auto at_least = std::exchange(options.at_least, std::nullopt);
  messages::put(options, *request.mutable_options());
  return EventStream(std::make_unique<RemotePages>(connection_, std::move(request), at_least));
}

EventStream RemoteEvents::read(AggregateId aggregate, StreamOptions options) {
  if (auto checked = AggregateId::check(aggregate); !checked) return EventStream(std::move(checked).error());
  pb::ReadRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  messages::put(options, *request.mutable_stream());
  return EventStream(std::make_unique<RemotePages>(connection_, std::move(request), std::nullopt));
}

EventFeed RemoteEvents::follow(Query query, FollowOptions options) {
  if (auto checked = query.check(); !checked) return EventFeed(std::move(checked).error());
  if (options.page_events_max == 0)
    return EventFeed(Error(ErrorCode::invalid_argument, "a feed with pages of 0 events gives nothing"));
  pb::SubscribeRequest request;
  messages::put(query, *request.mutable_query());
  request.set_after(options.after.value);
  // A position is of the fork that this client was answered by.
  if (options.after.value != 0) request.set_fork_id(connection_->fork());
  request.set_page_events_max(static_cast<std::uint32_t>(
      std::min<std::size_t>(options.page_events_max, std::numeric_limits<std::uint32_t>::max())));
  return EventFeed(std::make_unique<RemoteFeed>(connection_, std::move(request)));
}

Result<GlobalPosition> RemoteEvents::wait_for(GlobalPosition position, std::chrono::milliseconds timeout) {
  pb::HeadRequest request;
  pb::HeadResponse response;
  request.mutable_at_least()->set_position(position.value);
  EVERSHARD_TRY(connection_->ask(
      std::chrono::milliseconds(wire_ms(timeout)),
      [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds left) {
        request.mutable_at_least()->set_timeout_ms(wire_ms(connection_->wait_at_one(left)));
        return door.events->Head(&context, request, &response);
      },
      Connection::Again::not_served, Connection::answer_grace));
  connection_->see(GlobalPosition(response.watermark()));
  return GlobalPosition(response.watermark());
}

namespace {

/// What a write waits for before it is sent did not come: nothing of it has arrived.
grpc::Status not_begun(const Door& door, const grpc::Status& status) {
  const auto error = wire::error_of(status);
  const bool told = !status.error_details().empty();
  if (error.code != ErrorCode::timeout && (told || error.code != ErrorCode::unavailable)) return status;
  return {grpc::StatusCode::UNAVAILABLE, no_connection + door.address + " that has come so far: " + error.what};
}

}  // namespace

Result<void> RemoteEvents::put_snapshot(Snapshot snapshot) {
  EVERSHARD_TRY(check(snapshot, Limits::most()));
  pb::Snapshot request;
  messages::put(snapshot, request);
  pb::PutSnapshotResponse response;
  return connection_->ask(
      [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds left) {
        if (const auto position = connection_->at_least({}); position && connection_->several()) {
          // The version may be so new that this node has not heard of it.
          pb::HeadRequest head;
          head.mutable_at_least()->set_position(position->value);
          head.mutable_at_least()->set_timeout_ms(wire_ms(connection_->wait_at_one(left)));
          auto waiting = connection_->context();
          waiting->set_deadline(context.deadline());
          pb::HeadResponse there;
          if (auto status = door.events->Head(waiting.get(), head, &there); !status.ok())
            return not_begun(door, status);
        }
        return door.events->PutSnapshot(&context, request, &response);
      },
      Connection::Again::named);
}

}  // namespace evershard::remote
