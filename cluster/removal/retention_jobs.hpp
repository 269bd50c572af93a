// RetentionJobs: long work that others asked for: begun once, waited for in parts, given up when nobody waits any more.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "evershard/api/administration.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// Any thread. A job that has ended is kept for a while, so that its outcome can be asked for again.
class RetentionJobs {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    std::size_t jobs_max = 32;                                      ///< under way
    std::size_t ended_max = 256;                                    ///< kept, the last ones heard of
    std::chrono::milliseconds patience = std::chrono::seconds(20);  ///< nobody waits for it: it is to stop
    std::chrono::milliseconds keep = std::chrono::minutes(2);       ///< of what has ended
  };
  explicit RetentionJobs(Options options) : options_(options) {}
  ~RetentionJobs() { stop(); }

  /// The outcome, as bytes.
  using Work = std::function<Result<std::string>(const Progress& progress)>;
  /// The same id again does nothing. Errors: overloaded; unavailable: stopped
  Result<void> begin(const std::string& id, Work work);

  struct State {
    std::uint64_t done = 0, total = 0;
    std::optional<Result<std::string>> outcome{};  ///< it has ended
  };
  /// At most `time`; `give_up`: it is to stop at the next safe point. Returns: nothing: there is no such job here
  std::optional<State> wait(const std::string& id, bool give_up, std::chrono::milliseconds time);
  /// Stops all at their next safe point, and waits for that.
  void stop();

 private:
  struct Job {
    std::thread thread;
    std::uint64_t done = 0, total = 0;
    bool given_up = false;
    Clock::time_point heard = Clock::now();
    std::optional<Result<std::string>> outcome;
  };
  /// Under the mutex.
  [[nodiscard]] std::thread thread_of(const std::shared_ptr<Job>& job, Work work);
  void forget_old();

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;
  bool stopping_ = false;
};

}  // namespace evershard::cluster
