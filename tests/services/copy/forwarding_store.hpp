// ForwardingStore: a store that is another one, for tests that change a call or two.

#pragma once

#include <utility>

#include "evershard/api/event_store.hpp"

namespace evershard::testing {

class ForwardingStore : public EventStore {
 public:
  explicit ForwardingStore(EventStore& to) : to_(to) {}

  using EventStore::read;
  Result<Appended> append(Append append) override { return to_.append(std::move(append)); }
  void append_async(Append append, AppendCompletion done) override {
    to_.append_async(std::move(append), std::move(done));
  }
  EventStream read(Query query, ReadOptions options = {}) override { return to_.read(std::move(query), options); }
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override {
    return to_.read(std::move(aggregate), options);
  }
  EventFeed follow(Query query, FollowOptions options = {}) override { return to_.follow(std::move(query), options); }
  Result<GlobalPosition> head() override { return to_.head(); }
  Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override {
    return to_.wait_for(position, timeout);
  }
  Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {}) override {
    return to_.aggregate(aggregate, up_to);
  }
  Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string> type, std::optional<AggregateId> after,
                                                std::size_t limit) override {
    return to_.aggregates(std::move(type), std::move(after), limit);
  }
  Result<RecordedEvent> event_at(GlobalPosition position) override { return to_.event_at(position); }
  Result<void> put_snapshot(Snapshot snapshot) override { return to_.put_snapshot(std::move(snapshot)); }
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                   std::optional<SeqNr> at_or_before = {}) override {
    return to_.snapshot(aggregate, at_or_before);
  }
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) override {
    return to_.snapshot_as_of(aggregate, up_to);
  }
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) override {
    return to_.snapshots(aggregate);
  }

 protected:
  EventStore& to_;
};

}  // namespace evershard::testing
