// Following past what is damaged: for those in the store who work on everything that is written.

#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "evershard/api/event_feed.hpp"
#include "evershard/api/event_store.hpp"
#include "evershard/protocol/query.hpp"

namespace evershard::cluster {

/// As EventStore::follow, but an event whose record cannot be read does not end the feed: it is passed over and told,
/// and those beside it are given. What nobody can name the position of ends the feed, as everything else does.
///
/// `passed_over`: called by next(), once for each, with where it stands and why; may be absent.
/// Owner: `events` outlives the feed.
[[nodiscard]] EventFeed follow_past_damage(EventStore& events, Query query, FollowOptions options,
                                           std::function<void(GlobalPosition position, const Error& why)> passed_over);

/// How many events somebody passed over, for listings. A plain class: its owner's lock.
class PassedOver {
 public:
  /// Of the same event again, as of a feed that is begun anew: nothing.
  void add(GlobalPosition position, const Error& why);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// A sentence that names the last one; empty: none was.
  [[nodiscard]] std::string text() const;

 private:
  std::uint64_t count_ = 0;
  std::set<GlobalPosition> known_{};  ///< the last of them
  GlobalPosition last_{};
  std::string why_;
};

}  // namespace evershard::cluster
