// Vacuuming: a thread that does something every so often: gives back space, applies policies.

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "evershard/api/administration.hpp"
#include "evershard/doors/serving/log.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard::server {

/// How long until work is due again that was last done at `last`, by whatever process. `last` absent: the work was
/// never done, as far as is known.
/// Returns: 0 to `every`, whatever the clock was then.
[[nodiscard]] std::chrono::milliseconds due_in(std::chrono::milliseconds every, std::optional<Timestamp> last,
                                               Timestamp now);

/// The first time after a whole period, if nothing else is said: a server that is restarted often never vacuums, nor
/// does it need to at its start.
class Vacuuming {
 public:
  using Work = std::function<Result<void>(const Progress& progress)>;
  /// `what` names it in the log; `every`: 0: never.
  Vacuuming(std::string what, Work todo, std::chrono::milliseconds every, serving::Log& log,
            std::optional<std::chrono::milliseconds> first = {});
  ~Vacuuming() { stop(); }
  Vacuuming(const Vacuuming&) = delete;

  /// Cancels what is under way.
  void stop();

 private:
  void work();
  [[nodiscard]] bool stopping();

  const std::string what_;
  const Work todo_;
  const std::chrono::milliseconds every_;
  const std::chrono::milliseconds first_;
  serving::Log& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace evershard::server
