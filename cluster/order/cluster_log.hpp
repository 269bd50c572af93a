// ClusterLog: what happened to who writes shards and who keeps them, since a coordinator leads.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "evershard/api/cluster_status.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/timestamp.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/cut_log_state.hpp"

namespace evershard::cluster {

/// The newest changes, and how many there were. Times are given.
///
/// A change is known when the cut that makes it is stored. What one cause does within a second is one change.
class ClusterLog {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Cause = ClusterChange::Cause;
  struct Now {
    Time at;
    Timestamp clock;
  };
  static constexpr std::size_t changes_max = 200;
  static constexpr std::size_t shards_max = 20'000;  ///< that all changes name together

  /// A coordinator begins to lead. It knows nothing of before.
  explicit ClusterLog(Now began);

  /// Nobody writes the shard from now on. Said again, it has had no writer since the first time, for the last cause.
  void stops(Time since, ShardId shard, Cause cause);
  /// Its writer, this node, writes it again, without an opening.
  void goes_on(Now now, ShardId shard, std::uint32_t node);
  /// A cut was stored; `before`: the state that it follows.
  void stored(Now now, const sharding::CutLogState& before, const sharding::Cut& cut);

  [[nodiscard]] const std::deque<ClusterChange>& changes() const { return changes_; }
  /// Of causes that have been.
  [[nodiscard]] std::vector<ClusterStatus::Count> counts() const;
  /// For how long nobody has written the shard; absent: somebody does, as far as is known.
  [[nodiscard]] std::optional<std::chrono::milliseconds> without_writer(Time now, ShardId shard) const;
  /// Why nobody writes the shard now; absent: somebody does.
  [[nodiscard]] std::optional<Cause> why(ShardId shard) const;

 private:
  void add(Now now, Cause cause, std::uint32_t from, std::uint32_t to, ShardId shard, Time since);
  void forget();

  Time began_;
  struct Stopped {
    Time since;
    Cause cause{};
  };
  std::map<ShardId, Stopped> stopped_;
  std::deque<ClusterChange> changes_;
  std::size_t shards_named_ = 0;
  struct Sum {
    std::uint64_t changes = 0, without_writer_ms = 0;
  };
  std::array<Sum, ClusterChange::causes> sums_{};
};

}  // namespace evershard::cluster
