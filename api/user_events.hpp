// UserEvents: a store as users have it: names that begin with `$` are the store's own, and refused.

#pragma once

#include <functional>
#include <utility>

#include "evershard/api/event_store.hpp"
#include "evershard/protocol/reserved.hpp"

namespace evershard::cluster {

/// What comes from another store and says there that an aggregate was removed has its place: it is to be hidden here.
/// Again: the same.
using TakeOverRemoval =
    std::function<Result<void>(const AggregateId& aggregate, const EventId& marker, GlobalPosition at_least)>;

/// Owner: the store outlives it.
class UserEvents final : public EventStore {
 public:
  /// `check_follower`: what is followed is refused with its error; absent: nothing is.
  UserEvents(EventStore& store, TakeOverRemoval take_over,
             std::function<Result<void>(const Query&)> check_follower = {})
      : store_(store), take_over_(std::move(take_over)), check_follower_(std::move(check_follower)) {}

  using EventStore::read;
  /// Where it is broken off between an event and what hides its aggregate, the same append again does the rest.
  Result<Appended> append(Append append) override {
    EVERSHARD_TRY(check_reserved(append));
    const auto removals = removals_of(append);
    auto appended = store_.append(std::move(append));
    if (!appended) return appended;
    for (const auto& [aggregate, marker] : removals)
      EVERSHARD_TRY(take_over_(aggregate, marker, appended->last_position));
    return appended;
  }
  /// What says that aggregates were removed is waited for in the caller's thread: an import has few of these.
  void append_async(Append append, AppendCompletion done) override {
    if (!removals_of(append).empty()) return done(this->append(std::move(append)));
    if (auto checked = check_reserved(append); !checked) return done(refuse(std::move(checked).error()));
    store_.append_async(std::move(append), std::move(done));
  }
  EventStream read(Query query, ReadOptions options = {}) override { return store_.read(std::move(query), options); }
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override {
    return store_.read(std::move(aggregate), options);
  }
  EventFeed follow(Query query, FollowOptions options = {}) override {
    if (check_follower_)
      if (auto checked = check_follower_(query); !checked) return EventFeed(std::move(checked).error());
    return store_.follow(std::move(query), options);
  }
  Result<GlobalPosition> head() override { return store_.head(); }
  Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override {
    return store_.wait_for(position, timeout);
  }
  Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {}) override {
    return store_.aggregate(aggregate, up_to);
  }
  Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string> type, std::optional<AggregateId> after,
                                                std::size_t limit) override {
    return store_.aggregates(std::move(type), std::move(after), limit);
  }
  Result<RecordedEvent> event_at(GlobalPosition position) override { return store_.event_at(position); }
  Result<void> put_snapshot(Snapshot snapshot) override {
    EVERSHARD_TRY(check_reserved(snapshot));
    return store_.put_snapshot(std::move(snapshot));
  }
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                   std::optional<SeqNr> at_or_before = {}) override {
    return store_.snapshot(aggregate, at_or_before);
  }
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) override {
    return store_.snapshot_as_of(aggregate, up_to);
  }
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) override {
    return store_.snapshots(aggregate);
  }

 private:
  EventStore& store_;
  const TakeOverRemoval take_over_;
  const std::function<Result<void>(const Query&)> check_follower_;
};

}  // namespace evershard::cluster
