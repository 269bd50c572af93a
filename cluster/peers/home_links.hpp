// HomeLinks: calls to homes, over a node's links.

#pragma once

#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/cluster/peers/node_links.hpp"

namespace evershard::cluster {

/// Bounded by the links: requests and bytes that a peer has open, what waits for it here.
/// Owner: the links outlive it.
class HomeLinks final : public HomeNetwork {
 public:
  explicit HomeLinks(NodeLinks& links) : links_(links) {}
  void ask(std::uint32_t node, HomeAsked asked, HomeDone done) override;
  /// What others ask is answered by these, until NodeLinks::detach().
  void serve(HomeCalls& homes);

 private:
  NodeLinks& links_;
};

/// What became of a call, of what the link said. `unavailable`, and no further try, where the node is of a release that
/// does not know such calls.
[[nodiscard]] Result<HomeAnswered> home_outcome(std::uint32_t node, Result<std::string> bytes);

}  // namespace evershard::cluster
