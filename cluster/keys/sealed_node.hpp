// SealedNode: a node's events as those have them who may read payloads: sealed and opened with the coordinator's keys.

#pragma once

#include <memory>

#include "evershard/cluster/erasure/sealed_events.hpp"
#include "evershard/cluster/erasure/sealing_queue.hpp"
#include "evershard/cluster/keys/coordinator_keys.hpp"

namespace evershard::cluster {

/// What nodes tell each other of events stays sealed: it is opened where it is read. Payloads without subject need nobody.
///
/// Owner: events and network outlive it; the store behind it takes what comes until stop().
class SealedNode {
 public:
  SealedNode(EventStore& sealed, KeyNetwork& network, CoordinatorKeysOptions options = {});
  ~SealedNode();

  [[nodiscard]] EventStore& events() { return events_; }
  [[nodiscard]] const std::shared_ptr<CoordinatorKeys>& keys() const { return keys_; }
  [[nodiscard]] const std::shared_ptr<const Sealing>& sealing() const { return sealing_; }
  [[nodiscard]] SealingQueue& queue() { return queue_; }

  /// Nothing is sealed or opened any more: `unavailable`, also what waits for a key. Before the node and what carries its appends stop. Idempotent.
  void stop() {
    keys_->stop();
    queue_.stop();
  }

 private:
  const std::shared_ptr<CoordinatorKeys> keys_;
  const std::shared_ptr<const Sealing> sealing_;
  SealedEvents events_;
  SealingQueue queue_;  ///< goes first: what is in it is the events'
};

}  // namespace evershard::cluster
