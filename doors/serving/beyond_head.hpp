// Who follows a store from a position that it does not have.

#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "evershard/doors/serving/head_watch.hpp"
#include "evershard/doors/serving/served.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/beyond_head.hpp"

namespace evershard::serving {

/// Whether a position is one that this store does not have: it is of another history, before a restore or of another
/// store. Of a node that may be a moment behind the others it is said after `may_be_behind` alone.
/// Errors: those of head()
[[nodiscard]] inline Result<std::optional<Error>> beyond_head(const Served& served, GlobalPosition after) {
  const auto head = served.store.head();
  if (!head) return refuse(head.error());
  if (after <= *head) return std::optional<Error>();
  return std::optional(evershard::beyond_head(after, *head, served.fork));
}

/// How long a node of a cluster is given to come as far as others are.
inline constexpr auto may_be_behind = std::chrono::seconds(5);

/// The furthest position that its conditions look from.
[[nodiscard]] inline GlobalPosition looks_from(const Append& append) {
  GlobalPosition last;
  for (const auto& condition : append.conditions) last = std::max(last, condition.after);
  return last;
}

/// Whether when_within() has nothing to wait for, and nothing to refuse.
[[nodiscard]] inline bool is_within(const Served& served, const Append& append) {
  const auto last = looks_from(append);
  if (served.cluster == nullptr || last.value == 0) return true;
  const auto beyond = beyond_head(served, last);
  return beyond && !*beyond;
}

/// `then` once the conditions of an append lie within what a node of a cluster has, or with beyond_head() after
/// `may_be_behind`; at once, or from a thread of the pool or the watch's. A store of one process says so itself.
inline void when_within(const Served& served, const Append& append, std::function<void(Result<void>)> then) {
  const auto last = looks_from(append);
  if (served.cluster == nullptr || last.value == 0) return then({});
  const auto beyond = beyond_head(served, last);
  if (!beyond) return then(refuse(beyond.error()));
  if (!*beyond) return then({});
  served.watch.when_reached(
      last, HeadWatch::Clock::now() + may_be_behind,
      [&pool = served.pool, beyond = **beyond, then = std::move(then)](const Result<GlobalPosition>& reached) {
        if (reached) return pool.run([then] { then({}); });
        then(refuse(reached.error().code == ErrorCode::timeout ? beyond : reached.error()));
      });
}

}  // namespace evershard::serving
