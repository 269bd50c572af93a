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
class UserEvents final : public ForwardedEvents {
 public:
  /// `check_follower`: what is followed is refused with its error; absent: nothing is.
  UserEvents(EventStore& store, TakeOverRemoval take_over,
             std::function<Result<void>(const Query&)> check_follower = {})
      : store_(store), take_over_(std::move(take_over)), check_follower_(std::move(check_follower)) {}

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
  EventFeed follow(Query query, FollowOptions options = {}) override {
    if (check_follower_)
      if (auto checked = check_follower_(query); !checked) return EventFeed(std::move(checked).error());
    return store_.follow(std::move(query), options);
  }
  Result<void> put_snapshot(Snapshot snapshot) override {
    EVERSHARD_TRY(check_reserved(snapshot));
    return store_.put_snapshot(std::move(snapshot));
  }

 private:
  [[nodiscard]] EventStore& events() const override { return store_; }

  EventStore& store_;
  const TakeOverRemoval take_over_;
  const std::function<Result<void>(const Query&)> check_follower_;
};

}  // namespace evershard::cluster
