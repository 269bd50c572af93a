// StillWatch: which nodes are here and apply nothing, while others go on.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "evershard/protocol/numbers.hpp"

namespace evershard::cluster {

/// Such a node waits for what it is not sent: of all that writes, one does not reach it. The coordinator hears both,
/// and cannot tell which of the two to blame. So whoever stands still is to write nothing for a while, and for twice as
/// long where it comes again soon after. Times are given, and do not go back.
class StillWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;
  struct Options {
    Duration after{3'000};  ///< it applies nothing for so long; who applies something says so within a second
    Duration lasts_min{5'000}, lasts_max{600'000};
  };
  explicit StillWatch(Options options) : options_(options) {}

  /// How far a node is, by its own word. `has_all`: there is no later cut.
  void said(Time now, std::uint32_t node, CutNumber applied, bool has_all) {
    const auto [at, added] = moved_.try_emplace(node, Moved{applied, now});
    if (added || (applied <= at->second.applied && !has_all)) return;
    at->second = {applied, now};
  }
  /// Another process of it begins.
  void came(std::uint32_t node) { moved_.erase(node); }

  struct Node {
    std::uint32_t node = 0;
    bool writes = false;  ///< shards
    Duration behind{0};   ///< since the first cut was made that it has not applied
  };
  /// Of those that are here. Returns: which of them have just begun to count as standing still.
  std::vector<std::uint32_t> look(Time now, const std::vector<Node>& here) {
    const auto stands = [&](const Node& of) {
      const auto moved = moved_.find(of.node);
      return moved != moved_.end() && now - moved->second.at >= options_.after && of.behind >= options_.after;
    };
    std::vector<std::uint32_t> begun;
    if (std::ranges::all_of(here, stands)) return begun;  // there is nothing to apply, or nobody to do better
    for (const auto& of : here) {
      if (!of.writes || !stands(of) || is_still(now, of.node)) continue;
      auto& rests = rests_[of.node];
      rests.lasts =
          now < rests.until + rests.lasts ? std::min(2 * rests.lasts, options_.lasts_max) : options_.lasts_min;
      rests.until = now + rests.lasts;
      begun.push_back(of.node);
    }
    return begun;
  }
  [[nodiscard]] bool is_still(Time now, std::uint32_t node) const {
    const auto rests = rests_.find(node);
    return rests != rests_.end() && now < rests->second.until;
  }
  /// An operator wants all to write.
  void forget() { rests_.clear(); }

 private:
  struct Moved {
    CutNumber applied;
    Time at;  ///< when it had applied more than before, or all
  };
  struct Rests {
    Time until{};
    Duration lasts{0};
  };
  const Options options_;
  std::map<std::uint32_t, Moved> moved_;
  std::map<std::uint32_t, Rests> rests_;
};

}  // namespace evershard::cluster
