// StateFeed<A>: a stream of an aggregate's states, as its changes become durable.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "evershard/actors/model/aggregate_ref.hpp"
#include "evershard/actors/model/typed_kind.hpp"
#include "evershard/services/states/followed_state.hpp"

namespace evershard {

struct StateFeedOptions {
  bool newest = false;  ///< a slow reader gets the newest state, and not each in between
};

/// Over any EventStore: the store in this process, a cluster's node, or a server's client. The aggregate need not be
/// hosted there, nor be live.
///
///     evershard::StateFeed<BankAccount> feed(store, "acc-1");
///     while (auto state = feed.next(1s)) {
///       if (*state) show((*state)->state, (*state)->version);
///     }
///
/// Owner: one thread, but for cancel(). The store outlives it.
template <class A>
class StateFeed {
 public:
  using State = typename A::State;

  StateFeed(EventStore& store, std::string_view value, StateFeedOptions options = {}) : options_(options) {
    auto kind = make_kind<A>();
    const AggregateId id{std::string(A::type), std::string(value)};
    if (!kind)
      error_ = std::move(kind).error();
    else if (auto ok = AggregateId::check(id); !ok)
      error_ = std::move(ok).error();
    else
      followed_ = std::make_unique<cluster::FollowedState>(store, std::move(*kind), id);
  }

  /// First the state as it is, at once; then, as soon as it is durable, the one after each append that changes it.
  /// Absent: nothing changed in that time.
  /// Errors: invalid_argument (of the aggregate's id or type), corruption, not_found (its history was removed, and no
  ///         snapshot stands behind that), io, unavailable, cancelled
  [[nodiscard]] Result<std::optional<StateAt<State>>> next(std::chrono::milliseconds timeout) {
    if (!followed_) return Refused(error_);
    auto seen = followed_->next(timeout, options_.newest);
    if (!seen) return Refused(std::move(seen).error());
    if (!*seen) return std::optional<StateAt<State>>();
    return std::optional(StateAt<State>{TypedKind<A>::state_in(*(*seen)->state), (*seen)->version, (*seen)->position});
  }
  /// From any thread: a next() under way answers `cancelled` soon, and so does every later one.
  void cancel() {
    if (followed_) followed_->cancel();
  }

 private:
  StateFeedOptions options_;
  Error error_;
  std::unique_ptr<cluster::FollowedState> followed_;
};

}  // namespace evershard
