// LeaderLink: the session of a standby coordinator with the leader. It says whether the leader is there, and nothing
// else.

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "evershard/cluster/link/links.hpp"

namespace evershard::cluster {

/// Who the process is among coordinators that stand by: a number of its own, drawn at random, above those of nodes.
[[nodiscard]] LinkIdentity standing_by(LinkIdentity coordinator);

/// Owner: one thread.
class LeaderLink {
 public:
  /// `options`: of who stands by. Errors: those of Links::open
  [[nodiscard]] static Result<std::unique_ptr<LeaderLink>> open(LinkOptions options);
  ~LeaderLink();

  /// Absent: nobody. Errors: invalid_argument: nobody may be dialled there
  [[nodiscard]] Result<void> follow(const std::optional<std::string>& address);
  /// Whether the leader that is followed is there.
  [[nodiscard]] bool up() const { return up_; }
  /// Errors: as Links::reload_tls says
  [[nodiscard]] Result<void> reload_tls() { return has_tls_ ? links_->reload_tls() : Result<void>{}; }

 private:
  LeaderLink() = default;
  std::atomic<bool> up_{false};
  std::optional<std::string> followed_;
  bool has_tls_ = false;
  std::unique_ptr<Links> links_;
};

}  // namespace evershard::cluster
