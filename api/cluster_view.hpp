// ClusterView: which nodes a cluster has and who owns which shard, as one of them last heard.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

/// A hint, from memory: what was heard may be late. An append that goes to the wrong node by it is sent on, never lost.
struct ClusterView {
  struct Node {
    std::uint32_t node = 0;      ///< from 1
    std::string address{};       ///< HOST:PORT where other nodes reach it; empty: never heard
    std::string door{};          ///< HOST:PORT where clients reach it (gRPC); empty: never heard
    bool up = false;             ///< it has a session with the coordinator
    Timestamp since{};           ///< up or down since then, by the coordinator's clock; 0: not known
    std::string version{};       ///< of its program
    bool gateway = false;        ///< it is given no shards: it serves what the others have
    std::string kurrent_door{};  ///< HOST:PORT where KurrentDB's clients reach it; empty: nowhere
    friend bool operator==(const Node&, const Node&) = default;
  };
  struct Shard {
    std::uint32_t node = 0;  ///< its owner; 0: nobody
    Epoch
        epoch{};  ///< grows with each opening: of two answers about a shard, the one with the higher epoch is the newer
    friend bool operator==(const Shard&, const Shard&) = default;
  };

  std::uint32_t self = 0;       ///< the node that tells
  Epoch coordinator{};          ///< of the coordinator that told of the nodes; 0: none has yet
  std::vector<Node> nodes{};    ///< ascending by number
  std::vector<Shard> shards{};  ///< one a shard

  /// Nothing: no such node is known.
  [[nodiscard]] const Node* find(std::uint32_t node) const {
    const auto found = std::ranges::find(nodes, node, &Node::node);
    return found == nodes.end() ? nullptr : &*found;
  }
  friend bool operator==(const ClusterView&, const ClusterView&) = default;
};

}  // namespace evershard
