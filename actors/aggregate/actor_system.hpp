// ActorSystem: CAF's actor system, set up for us, and an order of stopping that ends.

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include <caf/all.hpp>

namespace evershard::actors {

/// How its actors are run.
enum class Scheduling : std::uint8_t {
  threads,        ///< each in a thread of its own
  deterministic,  ///< one message at a time, by whoever says so; the clock stands still until it is told
};

class ActorSystem {
 public:
  explicit ActorSystem(Scheduling scheduling);
  ~ActorSystem();
  ActorSystem(const ActorSystem&) = delete;

  [[nodiscard]] caf::actor_system& caf() { return *system_; }
  [[nodiscard]] Scheduling scheduling() const { return scheduling_; }
  /// Ends the actors: an exit message, then a kill, each within `grace`. Returns: whether all of them are gone.
  bool end(const std::vector<caf::actor>& actors, std::chrono::milliseconds grace);
  /// deterministic: handles one message. Returns: whether there was one
  bool step();
  /// deterministic: lets time pass until the next delayed message is due, at most until `until`. Returns: whether one
  /// is due.
  bool pass(std::chrono::steady_clock::time_point until);

 private:
  const Scheduling scheduling_;
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  bool all_down_ = true;
};

/// After what makes this thread refer to a system (making it, spawning, a scoped actor): its end waits until no thread
/// but its own does, which is for ever when another thread ends it.
void let_go_of_it();

}  // namespace evershard::actors
