// PersistentHome: the persistent subscriptions that are at home on this node, as the other nodes of its cluster ask for
// them.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>

#include "evershard/compat/kurrent/home_consumer.hpp"
#include "evershard/compat/kurrent/persistent_host.hpp"

namespace evershard::kurrent {

/// On every node that may own a shard, whether it has a door for these clients or not. While nobody asks, nothing of it
/// runs; while another node has consumers here, one look at all of them each second.
class PersistentHome : public std::enable_shared_from_this<PersistentHome> {
 public:
  /// Owner: what is served outlives it. Shape: before the node joins.
  static std::shared_ptr<PersistentHome> start(serving::Served& served, serving::Homes& homes);
  PersistentHome(serving::Served& served, serving::Homes& homes);
  /// stop()
  ~PersistentHome();

  [[nodiscard]] PersistentHost& host() { return host_; }
  [[nodiscard]] EventStore& events() { return kurrent_.events; }
  /// Consumers at other nodes.
  [[nodiscard]] std::size_t consumers();
  /// Everything is kept, everybody has to join elsewhere. Waits for what runs. Any number of times.
  void stop();

 private:
  using Clock = HomeConsumer::Clock;
  void serve();
  [[nodiscard]] Result<std::string> join(const serving::Homes::Asked& asked);
  void take(const serving::Homes::Asked& asked, serving::Homes::Done done);
  [[nodiscard]] Result<std::string> settle(const serving::Homes::Asked& asked);
  [[nodiscard]] std::shared_ptr<HomeConsumer> find(std::uint64_t session);
  void look_soon();
  void look();

  cluster::WorkPool no_answers_{1};
  serving::Homes& homes_;
  door::Calls calls_;  ///< of nobody's door: what hosted ones run on
  Kurrent kurrent_;
  PersistentHost host_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<HomeConsumer>> consumers_;
  std::mt19937_64 numbers_{std::random_device{}()};
  bool looks_ = false;
  bool stopped_ = false;
};

}  // namespace evershard::kurrent
