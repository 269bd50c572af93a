#include "evershard/cluster/keys/sealed_node.hpp"

#include <utility>

namespace evershard::cluster {

SealedNode::SealedNode(EventStore& sealed, KeyNetwork& network, CoordinatorKeysOptions options)
    : keys_(std::make_shared<CoordinatorKeys>(network, std::move(options))),
      sealing_(std::make_shared<const Sealing>(keys_)),
      events_(sealed, sealing_, &queue_),
      queue_({.fetch = [keys = keys_](KeysWanted wanted) { keys->fetch(std::move(wanted)); }}) {}

SealedNode::~SealedNode() { stop(); }

}  // namespace evershard::cluster
