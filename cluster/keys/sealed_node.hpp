// SealedNode: a node's events as those have them who may read payloads: sealed and opened with the coordinator's keys.

#pragma once

#include <memory>

#include "evershard/cluster/keys/coordinator_keys.hpp"
#include "evershard/services/erasure/sealed_events.hpp"
#include "evershard/services/erasure/sealing_queue.hpp"

namespace evershard::cluster {

/// What nodes tell each other of events stays sealed: it is opened where it is read. Payloads without subject need
/// nobody.
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

  /// Nobody waits for keys any more: what would have to is `unavailable`; what is lent is used until it is over. First
  /// of all: who waits keeps others from stopping. Idempotent.
  void stop_asking() { keys_->stop(); }
  /// The same, and what waited for a key is answered, or sent. Before the node and what carries its appends stop.
  /// Idempotent.
  void stop() {
    stop_asking();
    queue_.stop();
  }

 private:
  const std::shared_ptr<CoordinatorKeys> keys_;
  const std::shared_ptr<const Sealing> sealing_;
  SealedEvents events_;
  SealingQueue queue_;  ///< destroyed first: the work that waits in it uses events_
};

}  // namespace evershard::cluster
