// CoordinatorLinks: a coordinator's links to its nodes.

#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "evershard/cluster/link/links.hpp"
#include "evershard/cluster/node/coordinator_host.hpp"
#include "evershard/cluster/peers/node_links.hpp"

namespace evershard::cluster {

struct CoordinatorLinksOptions {
  LinkOptions link{};
  std::string listen_host = "127.0.0.1";
  std::uint16_t listen_port = 0;
  storage::Identity identity{};                                              ///< of the cut log: nodes are told
  std::function<void(const std::string& whom, const Error& why)> refused{};  ///< for the log; any thread
};

/// Shape: open(), lead on it, attach(); detach() before the coordinator goes.
class CoordinatorLinks final : public CoordinatorNetwork {
 public:
  /// Errors: those of Links::open and listen
  [[nodiscard]] static Result<std::unique_ptr<CoordinatorLinks>> open(CoordinatorLinksOptions options);
  ~CoordinatorLinks() override;

  void attach(CoordinatorHost& host);
  void detach();
  /// Requests of this kind are answered so, in the links' thread: quickly. Until detach().
  void serve(PeerKind kind, std::function<void(LinkRequest)> answer);
  /// Errors: as Links::request says
  void request(std::uint32_t node, PeerKind kind, std::string bytes, std::chrono::milliseconds time, Links::Done done);
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Certificate, key and CA anew, where there are any. Errors: as Links::reload_tls says
  [[nodiscard]] Result<void> reload_tls() { return options_.link.tls ? links_->reload_tls() : Result<void>{}; }
  [[nodiscard]] std::vector<LinkStatus> status() const { return links_->status(); }
  /// How many nodes have said hello and are connected.
  [[nodiscard]] std::size_t nodes() const;
  /// Whether a standby coordinator is connected, or another process that has a number like a standby's.
  [[nodiscard]] bool somebody_stands_by() const;

  void to_node(NodeProcess node, ToNode message) override;
  void members(NodeProcess node, const Members& members) override;
  void promise(NodeProcess node, ShardId shard, Epoch epoch, std::uint64_t ask, CutNumber cut,
               const sharding::Leadership& coordinator) override;

 private:
  explicit CoordinatorLinks(CoordinatorLinksOptions options) : options_(std::move(options)) {}
  void on_message(const LinkMessage& message);
  void on_request(LinkRequest request);
  void on_down(const LinkSessionInfo& session);

  const CoordinatorLinksOptions options_;
  mutable std::mutex mutex_;
  CoordinatorHost* host_ = nullptr;
  std::map<PeerKind, std::function<void(LinkRequest)>> servants_;  ///< called under the mutex
  std::map<NodeNumber, NodeProcess> members_;                      ///< those that said hello in the session there is
  std::uint16_t port_ = 0;
  std::unique_ptr<Links> links_;
};

}  // namespace evershard::cluster
