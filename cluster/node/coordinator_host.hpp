// CoordinatorHost: the one thread of a coordinator, which has the cut log.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "evershard/cluster/order/clock_watch.hpp"
#include "evershard/cluster/order/cluster_log.hpp"
#include "evershard/cluster/order/coordinator.hpp"
#include "evershard/cluster/order/cut_rate.hpp"
#include "evershard/cluster/order/cut_times.hpp"
#include "evershard/cluster/order/learn_rate.hpp"
#include "evershard/cluster/order/still_watch.hpp"
#include "evershard/sharding/cut_log.hpp"

namespace evershard::cluster {

/// Where a coordinator's messages go. Called from its thread; does not block. What cannot be sent is lost: nodes ask
/// again.
class CoordinatorNetwork {
 public:
  virtual ~CoordinatorNetwork() = default;
  virtual void to_node(NodeProcess node, ToNode message) = 0;
  virtual void members(NodeProcess node, const Members& members) = 0;
  /// The answer to a report without appends, see ShardWriters::cut_promised.
  virtual void promise(NodeProcess node, ShardId shard, Epoch epoch, std::uint64_t ask, CutNumber cut,
                       const sharding::Leadership& coordinator) = 0;
};

struct CoordinatorHostOptions {
  CoordinatorOptions coordinator{};
  std::size_t cuts_bytes_max = 512u << 10;  ///< of one answer to CutsAfter
  /// Between cuts that only count for how long parts wait for their siblings: those have some network and a sync before
  /// them.
  std::chrono::milliseconds counting_pause{1};
  /// Then a node that is there has said so, and shards of which the writer has not come get new ones.
  std::chrono::milliseconds nodes_time{1'000};
  /// The same nodes were here for so long: then shards with replicas are handed over until all write about as many.
  std::chrono::milliseconds balance_after{30'000};
  /// Who keeps what is looked at so often, where sets change.
  std::chrono::milliseconds tend_every{500};
  /// A node that has been away for so long is gone for good: others are given what it kept. 0: never.
  std::chrono::milliseconds gone_after{0};
  /// A replica that shards are handed over to says in that time how far its disk is.
  std::chrono::milliseconds hand_over_time{250};
  std::function<void(const sharding::CutLogState&)> led{};  ///< as it leads, before anything else; the caller's thread
  std::function<void(const Error&)> warn{};                 ///< for the log; from its thread
  /// Other nodes write what this one wrote, from now on; for the log, from its thread. `after`: the end of its session.
  struct Moved {
    std::uint32_t from = 0;
    std::vector<ShardId> shards{};
    bool handed_over = false;
    std::optional<std::chrono::milliseconds> after{};
    ClusterChange::Cause cause = ClusterChange::Cause::node_lost;
  };
  std::function<void(const Moved&)> moved{};
  /// A node's clock begins to differ from this machine's, or ceases to; for the log, from its thread.
  std::function<void(std::uint32_t node, std::chrono::milliseconds ahead, bool differs)> clock{};
};

/// Leads from the start on, until somebody else does or the log fails: then ended() says why.
///
/// Any thread. Owner: the log and the network outlive it.
/// Source: docs/internals/ordering.md, rules 1 to 8.
class CoordinatorHost {
 public:
  /// Errors: those of CutLog::lead
  [[nodiscard]] static Result<std::unique_ptr<CoordinatorHost>> lead(sharding::CutLog& log, CoordinatorNetwork& network,
                                                                     CoordinatorHostOptions options);
  ~CoordinatorHost();
  CoordinatorHost(const CoordinatorHost&) = delete;

  /// Of this leadership.
  [[nodiscard]] Epoch epoch() const { return epoch_; }
  /// Coordinator::has_quorums(), as of half a second ago.
  [[nodiscard]] bool has_quorums() const { return has_quorums_; }
  void hello(Hello hello);
  /// `silence`: for how long nothing had been heard of it. Absent: its connection ended.
  void lost(NodeProcess process, std::optional<std::chrono::milliseconds> silence = std::nullopt);
  void report(NodeProcess from, Report report, std::uint64_t ask, std::uint64_t naming = 0);
  void held(Held held);
  void cuts_after(CutsAfter asked);
  void narrowed(Narrowed said);
  /// Answered from its thread; never, where it has ended or is stopping: then `done` is destroyed.
  void status(std::function<void(ClusterStatus)> done);
  void assign(ShardAssignment wanted, std::function<void(Result<ShardsAssigned>)> done);
  [[nodiscard]] std::optional<Error> ended() const;

 private:
  using Clock = std::chrono::steady_clock;
  CoordinatorHost(sharding::CutLog& log, CoordinatorNetwork& network, CoordinatorHostOptions options);
  void post(std::function<void()> input);
  void loop();
  bool take_inputs(std::optional<std::chrono::milliseconds> wait);
  void carry_out(CoordinatorActions actions, std::optional<Clock::time_point> stopped_since = std::nullopt);
  void send(const std::optional<NodeProcess>& to, const ToNode& message);
  /// Sends the members to all nodes if the members have changed, else to the node that asks.
  void tell_members(std::optional<NodeProcess> asking);

  sharding::CutLog& log_;
  CoordinatorNetwork& network_;
  const CoordinatorHostOptions options_;
  const Epoch epoch_;
  Coordinator coordinator_;           ///< of the thread, as is the next
  std::optional<sharding::Cut> put_;  ///< to be put
  Members members_;                   ///< as told last
  CutRate rate_;
  CutTimes times_;
  struct Said {
    CutTimes::Time at;
    CutTimes::Behind behind;
    CutNumber applied{};
  };
  std::map<std::uint32_t, Said> behind_;  ///< as each node said last
  std::map<std::uint32_t, Clock::time_point> lost_at_;
  Clock::time_point led_at_;
  ClusterLog log_of_changes_;
  ClockWatch clocks_;
  std::map<std::uint32_t, LearnRate> learning_;
  void take_clock(std::uint32_t node, Timestamp here, Timestamp there);
  /// `since`: when shards of which the writers went were written last.
  void note(const CoordinatorActions& actions, Clock::time_point since);
  void say_moved(const std::vector<CoordinatorActions::Moved>& moved);
  std::optional<Clock::time_point> nodes_until_, balance_at_, hand_overs_until_, tend_at_;
  void tend();
  StillWatch still_;
  void look_who_stands_still();
  /// What is due by now. Returns: when there is something again; absent: never.
  std::optional<Clock::time_point> look_at_clock();

  struct Assigned {
    CutNumber stands_with{};
    ShardsAssigned answer{};
    std::function<void(Result<ShardsAssigned>)> done{};
  };
  std::vector<Assigned> assigned_;  ///< in cuts that are not stored yet
  void answer_assigned();

  std::atomic<bool> has_quorums_{true};
  mutable std::mutex mutex_;
  std::condition_variable more_;
  std::vector<std::function<void()>> inbox_;
  std::optional<Error> ended_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace evershard::cluster
