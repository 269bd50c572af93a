// TriedAgain: something that is begun when a store is opened, and again until it works.

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// There is a thread only while it fails. Owner: what `begin` does ends with stop().
class TriedAgain {
 public:
  /// `what`: is said in front of each error. `warn`: once for each error in a row; any thread; may be absent.
  TriedAgain(std::string what, std::function<void(const Error&)> warn)
      : what_(std::move(what)), warn_(std::move(warn)) {}
  ~TriedAgain() { stop(); }
  TriedAgain(const TriedAgain&) = delete;

  /// Once now; where that fails it is said, and tried again: after a second, then later each time, up to half a minute.
  /// Once.
  void begin(std::function<Result<void>()> work);
  /// It failed, and has not worked since.
  [[nodiscard]] bool fails() const;
  /// Ends the tries, and waits for a try that is under way. Idempotent.
  void stop();

 private:
  bool works(const std::function<Result<void>()>& work);

  const std::string what_;
  const std::function<void(const Error&)> warn_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool fails_ = false;
  std::string said_;
  std::thread thread_;
};

}  // namespace evershard::cluster
