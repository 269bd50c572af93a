// NodeLinks: a node's links to the coordinator and to the other nodes.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "evershard/api/cluster_status.hpp"
#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/cluster/link/links.hpp"
#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/cluster/node/in_turn.hpp"
#include "evershard/cluster/peers/peer_messages.hpp"
#include "evershard/cluster/peers/peer_reads.hpp"
#include "evershard/storage/journal/identity.hpp"

namespace evershard::cluster {

/// On the links, the coordinator is 0: so nodes dial it, and each other once.
inline constexpr NodeNumber coordinator_on_links{0};
[[nodiscard]] inline NodeNumber on_links(std::uint32_t node) { return NodeNumber{node}; }
[[nodiscard]] inline std::uint32_t node_of(NodeNumber number) { return number.value; }

struct NodeLinksOptions {
  LinkOptions link{};
  std::string listen_host = "127.0.0.1";
  std::uint16_t listen_port = 0;
  std::vector<HostAndPort> coordinators{};                       ///< where the leader may be; at least one address
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  ///< of what other nodes are asked for
  LongReadOptions long_reads{};                                  ///< of what other nodes read here
  std::function<void(const std::string& whom, const Error& why)> refused{};  ///< for the log; any thread
};

/// Shape:  open(), ask identity(), make the node on it, attach(); detach() before the node goes.
/// Errors: of what is asked: as NodeNetwork says.
class NodeLinks final : public NodeNetwork {
 public:
  /// Errors: those of Links::open, listen and dial
  [[nodiscard]] static Result<std::unique_ptr<NodeLinks>> open(NodeLinksOptions options);
  ~NodeLinks() override;

  /// Which store this cluster is. Waits for the coordinator. Errors: unavailable, timeout, corruption
  [[nodiscard]] Result<storage::Identity> identity(std::chrono::milliseconds timeout);
  void attach(ClusterNode& node);
  void detach();
  /// Requests of this kind are answered so, in the links' thread: quickly, and in the order in which they came. Until
  /// detach().
  void serve(PeerKind kind, std::function<void(LinkRequest)> answer);
  /// Called when the coordinator is there, again and again, in the links' thread. Until detach().
  void when_coordinator_is_there(std::function<void()> call);
  /// Errors: as Links::request says
  void request(std::uint32_t node, PeerKind kind, std::string bytes, std::chrono::milliseconds time, Links::Done done);
  /// The same, for a read: when the one this thread reads for has gone (storage::ReadWork), the other node is told.
  /// `encoded`: the request under its number; 0: it has none.
  void request_read(std::uint32_t node, PeerKind kind, const std::function<std::string(std::uint64_t read)>& encoded,
                    std::chrono::milliseconds time, Links::Done done);
  /// What other nodes read here: a servant of such a request begins it there.
  [[nodiscard]] PeerReads& reads() { return reads_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Certificate, key and CA anew, where there are any. Errors: as Links::reload_tls says
  [[nodiscard]] Result<void> reload_tls() { return options_.link.tls ? links_->reload_tls() : Result<void>{}; }
  [[nodiscard]] std::vector<LinkStatus> status() const { return links_->status(); }

  /// Whose order this node follows, as clients are told: sharding::text_of; another object when that changes.
  [[nodiscard]] std::shared_ptr<const std::string> led_text() const;
  /// Errors: unavailable, timeout: the coordinator does not answer
  [[nodiscard]] Result<ClusterStatus> cluster_status();
  /// Errors: those of ClusterAdministration::assign
  [[nodiscard]] Result<ShardsAssigned> cluster_assign(const ShardAssignment& wanted);

  void to_coordinator(ToCoordinator message) override;
  void led_by(const sharding::Leaderships& leaderships) override;
  std::vector<std::uint32_t> ship(const std::vector<std::uint32_t>& nodes, const Ship& ship) override;
  void followed(std::uint32_t node, const FollowerTold& followed) override;
  void ship_row_log(std::uint32_t node, const RowLogPart& part) override;
  void row_log(std::uint32_t node, const RowLogAsked& asked, NodeDone<RowLogPart> done) override;
  void journal(std::uint32_t node, const JournalAsked& asked, NodeDone<storage::ShippedRows> done) override;
  void journal_sum(std::uint32_t node, const JournalSumAsked& asked, NodeDone<storage::JournalSum> done) override;
  void history(std::uint32_t node, GlobalPosition after, NodeDone<NodeHistory> done) override;
  void forward(std::uint32_t node, Append append, NodeDone<Appended> done) override;
  void ask_part(std::uint32_t node, std::shared_ptr<const actors::Attempt> of, actors::PartAsked part,
                std::function<void(actors::PartAnswer)> done) override;
  void read(std::uint32_t node, NodePageAsked asked, NodeDone<NodePage> done) override;
  void read_stream(std::uint32_t node, NodeStreamAsked asked, NodeDone<NodePage> done) override;
  void head(std::uint32_t node, NodeHeadAsked asked, NodeDone<AggregateInfo> done) override;
  void snapshots(std::uint32_t node, NodeSnapshotsAsked asked, NodeDone<std::vector<RecordedSnapshot>> done) override;
  void put_snapshot(std::uint32_t node, Snapshot snapshot, GlobalPosition up_to, NodeDone<void> done) override;
  void aggregates(std::uint32_t node, NodeAggregatesAsked asked, NodeDone<std::vector<AggregateInfo>> done) override;

 private:
  explicit NodeLinks(NodeLinksOptions options);
  void on_message(LinkMessage message);
  void on_replica(const LinkMessage& message);
  void on_request(LinkRequest request);
  void on_session(NodeNumber peer, bool up);
  void meet(const std::vector<ClusterView::Node>& members);
  /// The node, while the lock is held by the caller's copy.
  [[nodiscard]] std::shared_ptr<ClusterNode*> attached() const;
  struct Led {
    sharding::Leaderships leaderships;
    std::string asked_under;  ///< what requests end with
    std::string text{};       ///< for clients
  };
  [[nodiscard]] std::shared_ptr<const Led> led() const;
  /// Errors: fenced, unavailable: as sharding::check_one_history() says; corruption
  [[nodiscard]] Result<void> check_asked_under(const LinkRequest& request);
  void ask(std::uint32_t node, PeerKind kind, std::string bytes, Links::Done done);
  [[nodiscard]] Result<std::string> ask_coordinator(PeerKind kind, std::string bytes,
                                                    std::chrono::milliseconds timeout);

  const NodeLinksOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<ClusterNode*> node_;  ///< calls under way hold a copy
  using Servant = std::function<void(LinkRequest)>;
  std::map<PeerKind, std::shared_ptr<Servant>> servants_;        ///< the same
  std::shared_ptr<std::function<void()>> coordinator_is_there_;  ///< the same
  bool coordinator_up_ = false;
  std::shared_ptr<const Led> led_ = std::make_shared<const Led>();
  std::set<std::uint32_t> said_apart_;  ///< nodes that follow another history, as was logged
  std::uint16_t port_ = 0;
  PeerReads reads_;
  std::atomic<std::uint64_t> next_read_;
  std::unique_ptr<Links> links_;
  std::unique_ptr<InTurn> forwarded_;  ///< outlives the threads
  std::unique_ptr<WorkPool> work_;
};

}  // namespace evershard::cluster
