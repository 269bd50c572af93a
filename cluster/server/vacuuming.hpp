// Vacuuming: a thread that gives back space every so often.

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "evershard/cluster/serving/log.hpp"
#include "evershard/cluster/store/administration.hpp"

namespace evershard::server {

/// The first time after a whole period: a server that is restarted often never vacuums, nor does it need to at its start.
class Vacuuming {
 public:
  /// `every`: 0: never.
  Vacuuming(Administration& administration, std::chrono::milliseconds every, serving::Log& log);
  ~Vacuuming() { stop(); }
  Vacuuming(const Vacuuming&) = delete;

  /// Cancels what is under way.
  void stop();

 private:
  void work();
  [[nodiscard]] bool stopping();

  Administration& administration_;
  const std::chrono::milliseconds every_;
  serving::Log& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace evershard::server
