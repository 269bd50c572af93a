// Liveness: when a side must make itself heard, and when it gives the other up.

#pragma once

#include <algorithm>

#include "evershard/cluster/link/session/numbers.hpp"

namespace evershard::cluster {

class Liveness {
 public:
  Liveness(LinkTime::duration heartbeat, LinkTime::duration dead_after, LinkTime now)
      : heartbeat_(heartbeat), dead_after_(dead_after), sent_(now), heard_(now), looked_(now) {}

  void sent(LinkTime now) { sent_ = now; }
  void heard(LinkTime now) { heard_ = std::max(heard_, now); }

  [[nodiscard]] bool must_speak(LinkTime now) const { return now - sent_ >= heartbeat_; }
  /// For how long nothing was heard.
  [[nodiscard]] LinkTime::duration silence(LinkTime now) const { return now - heard_; }

  /// Whether the other is gone. Shape: asked more often than every heartbeat; if it was not, this process itself slept,
  /// and what the other sent meanwhile lies unread: the time slept is not counted.
  [[nodiscard]] bool is_dead(LinkTime now) {
    if (now - looked_ > heartbeat_) heard_ = std::min(now, heard_ + (now - looked_));
    looked_ = now;
    return silence(now) >= dead_after_;
  }

 private:
  const LinkTime::duration heartbeat_;
  const LinkTime::duration dead_after_;
  LinkTime sent_;
  LinkTime heard_;
  LinkTime looked_;
};

}  // namespace evershard::cluster
