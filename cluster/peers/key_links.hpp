// KeyLinks: what a node and the coordinator say of keys, over their link.

#pragma once

#include "evershard/cluster/keys/coordinator_keys.hpp"
#include "evershard/cluster/keys/key_keeper.hpp"
#include "evershard/cluster/peers/coordinator_links.hpp"
#include "evershard/cluster/peers/node_links.hpp"

namespace evershard::cluster {

/// A coordinator of a release that knows of no keys answers as one that was started without.
/// Owner: the links outlive it.
class KeyLinks final : public KeyNetwork {
 public:
  explicit KeyLinks(NodeLinks& links) : links_(links) {}
  void ask(KeysAsked asked, std::chrono::milliseconds time, KeysDone done) override;
  /// What the coordinator has this node forget is forgotten by these, and they look again when it was away, until
  /// NodeLinks::detach().
  void serve(CoordinatorKeys& keys);

 private:
  NodeLinks& links_;
};

/// Of a KeyKeeper at this end of the links.
[[nodiscard]] HaveForgotten have_forgotten_over(CoordinatorLinks& links);
/// Nodes are answered by it, until CoordinatorLinks::detach().
void serve_keys(CoordinatorLinks& links, KeyKeeper& keeper);

}  // namespace evershard::cluster
