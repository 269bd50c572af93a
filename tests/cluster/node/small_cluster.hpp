// SmallCluster: a coordinator and some nodes in this process; messages are function calls from other threads.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/cluster/node/coordinator_host.hpp"
#include "evershard/sharding/memory_cut_log.hpp"
#include "evershard/storage/open.hpp"

namespace evershard::cluster {

/// One log that several coordinators have, each in a thread of its own, as after one was replaced that has not heard of
/// it.
class SharedCutLog final : public sharding::CutLog {
 public:
  SharedCutLog(std::mutex& mutex, sharding::MemoryCutLog& log) : mutex_(mutex), log_(log), state_(0) {}

  Result<sharding::CutLogState> lead() override {
    return with([&] { return log_.lead(); });
  }
  Result<void> put(const sharding::Cut& cut) override {
    return with([&] { return log_.put(cut); });
  }
  [[nodiscard]] Result<sharding::CutsFound> cuts_after(CutNumber after, std::size_t bytes_max) const override {
    const std::lock_guard lock(mutex_);
    return log_.cuts_after(after, bytes_max);
  }
  Result<void> fold(Epoch epoch, std::span<const sharding::HeldBy> held) override {
    return with([&] { return log_.fold(epoch, held); });
  }
  [[nodiscard]] const sharding::CutLogState& state() const override { return state_; }

 private:
  template <class Do>
  std::invoke_result_t<Do> with(Do what) {
    const std::lock_guard lock(mutex_);
    auto done = what();
    state_ = log_.state();
    return done;
  }

  std::mutex& mutex_;
  sharding::MemoryCutLog& log_;
  sharding::CutLogState state_;
};

class SmallCluster final : public CoordinatorNetwork {
 public:
  struct Options {
    std::uint32_t nodes = 3;
    std::uint32_t gateways = 0;  ///< numbered behind the nodes
    std::uint32_t spares = 0;    ///< nodes that are started later, numbered behind those
    std::uint32_t shards = 4;
    std::uint32_t replicas = 1;
    std::filesystem::path data_dir{};  ///< empty: in memory, and a node that is stopped has lost its disk
    std::chrono::milliseconds timeout = std::chrono::seconds(30);
    Limits limits{};
    bool takes_sealed = false;                ///< as of NodeCommitterOptions
    std::chrono::milliseconds gone_after{0};  ///< then a node's replicas are made anew elsewhere; 0: never
  };
  explicit SmallCluster(Options options);
  ~SmallCluster() override;

  [[nodiscard]] ClusterNode& node(std::uint32_t number) { return *reach(number)->node; }
  /// None: it is not there. For threads beside the one that stops nodes: stop() waits until it is let go.
  [[nodiscard]] std::shared_ptr<ClusterNode> hold(std::uint32_t number) {
    auto part = reach(number);
    return part == nullptr ? nullptr : std::shared_ptr<ClusterNode>(part, part->node.get());
  }
  [[nodiscard]] storage::NodeStore& store(std::uint32_t number) { return *reach(number)->store; }
  void start(std::uint32_t number);
  /// All of them answer before the first one hears of the coordinator.
  void start_together(const std::vector<std::uint32_t>& numbers);
  void stop(std::uint32_t number);
  /// For when it is started the next time: its disk is full, or has room.
  void fill_disk(std::uint32_t number, bool is_full) { full_[number] = is_full; }
  void put_into_zone(std::uint32_t number, std::string zone) { zones_[number] = std::move(zone); }
  /// Nodes that are started from now on pass over what was lost.
  void skip_lost() { skip_lost_ = true; }
  /// A new coordinator leads; the old one is still there.
  void replace_coordinator();
  /// The log gives a shard to another node, and a new coordinator says so. Shape: nothing is under way, and there are
  /// no events on it.
  void move(ShardId shard, std::uint32_t to);
  /// What an operator asks of the coordinator that leads.
  [[nodiscard]] Result<ShardsAssigned> assign(const ShardAssignment& wanted);
  [[nodiscard]] ClusterStatus status();
  /// Every shard has an owner, as each node that is there sees it.
  [[nodiscard]] bool wait_until_open();

  static constexpr std::uint32_t everybody = 0xffffffff;
  /// No part of a row log comes to this node, or to everybody, any more, unless it asks for one; 0: to all.
  void lose_row_logs_to(std::uint32_t number) { no_row_logs_to_ = number; }
  /// Of parts of row logs that were sent to followers.
  [[nodiscard]] std::uint64_t row_log_bytes() const { return row_log_bytes_; }
  /// Followers do not say what they have of snapshots in two rows.
  void be_of_an_earlier_release(bool are) { earlier_release_ = are; }

  /// From here on what nodes say first is under way, until it is let go.
  void hold_hellos();
  [[nodiscard]] std::size_t hellos_held();
  void let_hellos_go();

  void to_node(NodeProcess node, ToNode message) override;
  void members(NodeProcess node, const Members& members) override;
  void promise(NodeProcess node, ShardId shard, Epoch epoch, std::uint64_t ask, CutNumber cut,
               const sharding::Leadership& coordinator) override;

 private:
  class Network;
  struct Part {
    std::unique_ptr<storage::NodeStore> store;
    std::unique_ptr<Network> network;
    std::unique_ptr<ClusterNode> node;
    NodeProcess process;
  };
  /// None: it is not there.
  [[nodiscard]] std::shared_ptr<Part> reach(std::uint32_t number);
  /// Not at the end: coordinators still talk when there is nobody left to carry it.
  void deliver(std::function<void()> message) {
    const std::lock_guard lock(carriers_mutex_);
    if (carriers_ != nullptr) carriers_->run(std::move(message));
  }
  /// As a link keeps the order of what is said to and by the coordinator: an opening's promise comes before its cut.
  void deliver_in_order(std::function<void()> message) {
    const std::lock_guard lock(carriers_mutex_);
    if (in_order_ != nullptr) in_order_->run(std::move(message));
  }
  void heard(NodeProcess from, ToCoordinator message);
  /// Sessions between this node and the others begin or end.
  void prepare(std::uint32_t number);
  void meet(std::uint32_t number, bool up);

  const Options options_;
  [[nodiscard]] std::uint32_t all() const { return options_.nodes + options_.gateways + options_.spares; }
  std::map<std::uint32_t, std::string> zones_;
  std::map<std::uint32_t, bool> full_;
  std::atomic<bool> skip_lost_{false};
  std::atomic<std::uint32_t> no_row_logs_to_{0};
  std::atomic<std::uint64_t> row_log_bytes_{0};
  std::atomic<bool> earlier_release_{false};
  storage::ClusterMember member_;
  std::mutex log_mutex_;
  sharding::MemoryCutLog log_;                       ///< under that mutex
  std::vector<std::unique_ptr<SharedCutLog>> logs_;  ///< one a coordinator
  std::mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<Part>> parts_;
  std::vector<std::unique_ptr<CoordinatorHost>> coordinators_;
  bool hellos_held_ = false;
  std::vector<std::pair<NodeProcess, ToCoordinator>> held_hellos_;
  std::mutex carriers_mutex_;
  std::unique_ptr<WorkPool> carriers_;
  std::unique_ptr<WorkPool> in_order_;
  std::uint64_t incarnations_ = 0;
};

}  // namespace evershard::cluster
