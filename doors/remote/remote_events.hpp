// RemoteEvents: the events of a server: what Remote is of an EventStore.

#pragma once

#include <memory>
#include <utility>

#include "evershard/api/calls/event_calls.hpp"
#include "evershard/doors/remote/append_lanes.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemoteEvents final : public calls::AskedEvents {
 public:
  RemoteEvents(std::shared_ptr<Connection> connection, std::shared_ptr<calls::Asker> asker)
      : AskedEvents(std::move(asker)),
        connection_(std::move(connection)),
        appends_(std::make_shared<AppendLanes>(connection_)) {}
  ~RemoteEvents() override { appends_->close(); }

  using EventStore::read;
  Result<Appended> append(Append append) override;
  void append_async(Append append, AppendCompletion done) override;
  EventStream read(Query query, ReadOptions options = {}) override;
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override;
  EventFeed follow(Query query, FollowOptions options = {}) override;
  Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override;
  Result<void> put_snapshot(Snapshot snapshot) override;

 private:
  Result<Appended> append_once(const Append& append);

  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<AppendLanes> appends_;
};

}  // namespace evershard::remote
