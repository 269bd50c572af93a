// ReadyWatch: tells once that the store can be served, and until then what it waits for.

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "evershard/doors/serving/log.hpp"
#include "evershard/protocol/error.hpp"

namespace evershard::server {

/// Where there is nothing to wait for it has told when it is made; else a thread looks, and what it waits for is in the
/// log after a second, and whenever that has changed a second later.
class ReadyWatch {
 public:
  using NotReady = std::function<std::optional<Error>()>;
  ReadyWatch(NotReady not_ready, std::function<void()> ready, serving::Log& log);
  ~ReadyWatch() { stop(); }
  ReadyWatch(const ReadyWatch&) = delete;

  void stop();

 private:
  void work();

  const NotReady not_ready_;
  const std::function<void()> ready_;
  serving::Log& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;  ///< none: it was ready at once
};

}  // namespace evershard::server
