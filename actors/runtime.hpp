// Runtime: the actor system of a node, its actors, and an order of stopping that ends.

#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "evershard/actors/core/committer.hpp"
#include "evershard/protocol/messages/interfaces.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::actors {

struct RuntimeOptions {
  std::size_t threads = 2;
  std::size_t readers = 2;  ///< reader actors, a thread each
};

/// Owner: the node; made after the store and the committer, stopped before the store is closed.
class Runtime {
 public:
  Runtime(Committer& committer, const storage::Store& store, RuntimeOptions options = {});
  ~Runtime();

  [[nodiscard]] caf::actor_system& system() { return *system_; }
  [[nodiscard]] const messages::IntakeActor& intake() const { return intake_; }
  /// One after the other.
  [[nodiscard]] const messages::ReaderActor& reader();

  /// Exits, then kills, one actor after the other, each within `grace`. Idempotent.
  ///
  /// Shape:   the committer was stopped: every promise of the intake is kept by then.
  /// Returns: whether all of them are gone.
  bool stop(std::chrono::milliseconds grace = std::chrono::seconds(2));

 private:
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  messages::IntakeActor intake_;
  std::vector<messages::ReaderActor> readers_;
  std::atomic<std::size_t> next_reader_{0};
  bool stopped_ = false;
  bool all_down_ = true;
};

}  // namespace evershard::actors
