// EmbeddingCluster: applications with a node each, and a coordinator, in this process, over real connections on
// loopback.

#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <evershard/cluster.hpp>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "evershard/cluster/peers/coordinator_links.hpp"
#include "evershard/cluster/peers/key_links.hpp"
#include "evershard/services/erasure/key_folder.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"
#include "tests/actors/aggregate/small_bank.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard {

using namespace std::chrono_literals;
using namespace small;
using Bank = BankOf<1, 10>;

/// `30`, `30 again` (a duplicate), `no: only 30` (rejected), `timeout`.
template <class Reply>
std::string shown(const Answer<Reply>& answer) {
  if (answer.rejected()) return "no: " + answer.rejection();
  if (answer.failed()) return std::string(name_of(answer.error().code));
  return std::to_string(answer->n) + (answer.duplicate() ? " again" : "");
}

constexpr auto embedding_patience = 60s;  // of tests on a busy machine; nothing waits so long that works

/// Until it is done: shards are opened, and links that were silent for too long are made anew.
template <class Do>
auto patiently(const Do& what) {
  auto done = what();
  for (const auto until = std::chrono::steady_clock::now() + embedding_patience;
       !done && std::chrono::steady_clock::now() < until; done = what())
    std::this_thread::sleep_for(20ms);
  return done;
}

/// By a name of its own: where the outcome is not known it is sent again.
template <class Store>
Result<Appended> append_patiently(Store& store, Append append) {
  if (!append.request_id) append.request_id = EventId::random();
  return patiently([&] { return store.append(append); });
}

class EmbeddingCluster {
 public:
  static constexpr std::uint32_t shards = 8;
  static constexpr const char* secret = "a secret of more than sixteen bytes, thirty-two perhaps";

  explicit EmbeddingCluster(std::uint32_t nodes, bool with_keys = false, std::uint32_t replicas = 1)
      : nodes_(nodes + 1), with_keys_(with_keys), replicas_(replicas) {
    std::ofstream(secret_file()) << secret;
    std::filesystem::permissions(secret_file(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    start_coordinator();
  }
  ~EmbeddingCluster() {
    for (auto& node : nodes_) node.reset();
    stop_coordinator();
  }
  void start_coordinator() {
    log_ = storage::open_cut_log({.data_dir = folder_.path() / "coordinator", .shards = shards}).value();
    cluster::CoordinatorLinksOptions options;
    options.link.who = {
        "evershard", shards, sharding::hash_id, cluster::coordinator_on_links, cluster::NodeRole::coordinator, 0};
    options.link.secret = secret;
    options.identity = log_->identity();
    options.listen_port = port_;
    links_ = cluster::CoordinatorLinks::open(options).value();
    port_ = links_->port();
    std::unique_ptr<cluster::SubjectKeys> keys;
    if (with_keys_) keys = cluster::KeyFolder::open(keys_dir(), folder_.path() / "coordinator").value();
    keeper_ = std::make_unique<cluster::KeyKeeper>(std::move(keys), cluster::have_forgotten_over(*links_),
                                                   cluster::KeyKeeperOptions{.lease = key_lease});
    cluster::serve_keys(*links_, *keeper_);
    cluster::CoordinatorHostOptions host;
    host.coordinator.nodes_expected = static_cast<std::uint32_t>(nodes_.size() - 1);
    host.coordinator.replicas = replicas_;
    if (replicas_ > 1) host.balance_after = 500ms;
    host_ = cluster::CoordinatorHost::lead(*log_, *links_, host).value();
    links_->attach(*host_);
  }
  void stop_coordinator() {
    if (links_ == nullptr) return;
    links_->detach();
    keeper_->stop();
    host_.reset();
    links_.reset();
    keeper_.reset();
    log_.reset();
  }
  [[nodiscard]] std::filesystem::path keys_dir() const { return folder_.path() / "keys"; }
  /// So long an erasure waits behind the start of a coordinator.
  static constexpr std::chrono::milliseconds key_lease{1'000};

  [[nodiscard]] ClusterOptions options(std::uint32_t number) const {
    ClusterOptions options;
    options.node = number;
    options.data_dir = folder_.path() / ("node-" + std::to_string(number));
    options.coordinator = "127.0.0.1:" + std::to_string(port_);
    options.secret_file = secret_file();
    options.shards = shards;
    options.disk_reserve_bytes = 0;
    options.memtable_bytes = 4u << 20;
    options.block_cache_bytes = 8u << 20;
    options.coordinator_timeout = 60s;
    return options;
  }
  Cluster& start(std::uint32_t number) { return start(number, options(number)); }
  Cluster& start(std::uint32_t number, ClusterOptions with) {
    nodes_[number].emplace(Cluster::join(std::move(with)).value());
    return *nodes_[number];
  }
  /// And hosts the bank.
  Cluster& start_bank(std::uint32_t number) {
    auto& node = start(number);
    EXPECT_TRUE(node.host<Bank>());
    return node;
  }
  /// As an erasure does that no node has heard of: the coordinator is away.
  void destroy_key_of(const std::string& subject) {
    const auto keys = cluster::KeyFolder::open(keys_dir(), folder_.path() / "coordinator").value();
    const auto id = keys->current(subject).value();
    ASSERT_TRUE(id);
    ASSERT_TRUE(keys->destroy(*id));
  }
  void stop(std::uint32_t number) { nodes_[number].reset(); }
  [[nodiscard]] Cluster& node(std::uint32_t number) { return *nodes_[number]; }
  [[nodiscard]] std::filesystem::path secret_file() const { return folder_.path() / "secret"; }

  /// An account whose shard this node owns.
  [[nodiscard]] std::string account_on(std::uint32_t number, std::uint32_t seen_from) {
    for (int tries = 0; tries < 3'000; ++tries, std::this_thread::sleep_for(10ms)) {
      for (int i = 0; i < 64; ++i)
        if (node(seen_from).node_of({"account", "on-" + std::to_string(i)}) == number) return "on-" + std::to_string(i);
    }
    ADD_FAILURE() << "node " << number << " owns nothing";
    return "none";
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<storage::DurableCutLog> log_;
  std::unique_ptr<cluster::CoordinatorLinks> links_;
  std::unique_ptr<cluster::KeyKeeper> keeper_;
  std::unique_ptr<cluster::CoordinatorHost> host_;
  std::vector<std::optional<Cluster>> nodes_;
  const bool with_keys_;
  const std::uint32_t replicas_;  ///< of each shard
  std::uint16_t port_ = 0;
};

inline std::uint64_t figure(const Cluster& node, std::string_view name) {
  for (const auto& [key, count] : node.figures())
    if (key == name) return count;
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

}  // namespace evershard
