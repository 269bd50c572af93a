// Sealer: the background thread that turns full tails into sorted rows, in small paced steps. Shared by both stores.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/index/seal_pace.hpp"
#include "evershard/storage/index/tails.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

/// Where the rows of a sealed tail go. Nothing counts until publish().
class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual Result<void> begin(Family family) = 0;
  /// Shape: keys ascend.
  virtual Result<void> put(std::string_view key, std::string_view value) = 0;
  /// The family's rows are complete.
  virtual Result<void> finish() = 0;
  /// All of it together with the mark, in one atomic step.
  virtual Result<void> publish(GlobalPosition mark) = 0;
  /// Forgets what was put since the last publish().
  virtual void abandon() = 0;
};

/// Owner: of its thread. A failed attempt is repeated after a while; meanwhile the tails fill and admission closes.
class Sealer {
 public:
  struct Options {
    std::size_t tail_events = 262'144;
    std::size_t bytes_per_second = 0;
    std::function<void(const char* step)> at_step;
    std::function<void()> poll;  ///< called by the thread every 100 ms at least
  };
  Sealer(Tails& tails, RunSink& sink, Options options);
  ~Sealer();

  void start();
  /// Wakes the sealer: there may be a step to take.
  void wake();
  /// Lets the step under way end and gives up the rest.
  void stop();

  /// Waits until everything up to `position` is sealed, at full speed. `urge`: called while waiting, to end the active
  /// tail; its error ends the waiting.
  /// Errors: io, corruption: of the attempt made meanwhile; cancelled: stopped
  Result<void> wait_sealed(GlobalPosition position, const std::function<Result<void>()>& urge);

  /// Seals in the calling thread, at full speed. Shape: the thread is not started, or not at this tail.
  Result<void> seal_here(const std::shared_ptr<const TailIndex>& tail);

  [[nodiscard]] std::uint64_t runs() const { return runs_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::optional<Error> last_error() const;

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  Result<void> seal(const std::shared_ptr<const TailIndex>& tail, bool paced);
  Result<void> write_family(const std::shared_ptr<const TailIndex>& tail, Family family, bool paced);
  Result<void> pause(Clock::time_point begun, std::size_t bytes, bool paced);
  void step(const char* name) const;
  void measure_rate();
  void rest_until(Clock::time_point until);

  Tails& tails_;
  RunSink& sink_;
  const Options options_;
  SealPace pace_;
  std::chrono::microseconds busy_{0};
  double appended_per_second_ = 0;
  GlobalPosition measured_position_;
  Clock::time_point measured_at_{};
  Clock::time_point polled_at_{};
  std::atomic<std::uint64_t> runs_{0};
  std::atomic<int> waiting_{0};  // who waits wants full speed

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  bool stop_ = false;
  std::uint64_t attempt_ = 0;         // its number, from 1
  std::uint64_t failed_attempt_ = 0;  // the last that failed; 0: none
  std::optional<Error> error_;
  std::thread thread_;
};

}  // namespace evershard::storage
