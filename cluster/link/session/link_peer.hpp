// LinkPeer: all that one process holds of one peer, over any number of sessions.

#pragma once

#include <optional>
#include <string>
#include <utility>

#include "evershard/cluster/link/session/link_session.hpp"

namespace evershard::cluster {

/// The requests it has of the peer, and the session there may be. What is said of a session that is not the present one
/// is dropped.
class LinkPeer {
 public:
  LinkPeer(NodeNumber node, const LinkLimits& limits, LinkTime now) : limits_(limits), calls_(node, limits, now) {}
  LinkPeer(const LinkPeer&) = delete;

  /// A session begins; one that was there ends before it.
  LinkSession& begin(const LinkAgreement& agreement, LinkTime now) {
    end("a newer session took its place", now);
    return session_.emplace(agreement, limits_, calls_, now);
  }
  /// Returns: whether there was one
  bool end(const std::string& why, LinkTime now) {
    const bool was_there = session_.has_value();
    calls_.end(why, now);
    session_.reset();
    return was_there;
  }
  /// For good.
  void close(const std::string& why) {
    session_.reset();
    calls_.close(why);
  }

  void answer(SessionNumber session, CallNumber number, Result<std::string> outcome) {
    if (is(session)) session_->answer(number, std::move(outcome));
  }
  void release(SessionNumber session, std::uint64_t cost) {
    if (is(session)) session_->release(cost);
  }

  [[nodiscard]] CallQueue& calls() { return calls_; }
  [[nodiscard]] const CallQueue& calls() const { return calls_; }
  [[nodiscard]] LinkSession* session() { return session_ ? &*session_ : nullptr; }
  [[nodiscard]] const LinkSession* session() const { return session_ ? &*session_ : nullptr; }

 private:
  bool is(SessionNumber session) const { return session_ && session_->number() == session; }

  const LinkLimits limits_;
  CallQueue calls_;
  std::optional<LinkSession> session_;
};

}  // namespace evershard::cluster
