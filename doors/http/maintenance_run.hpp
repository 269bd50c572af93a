// MaintenanceRun: long work on the store, as one answer or as a stream that says how far it is.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "evershard/api/administration.hpp"
#include "evershard/doors/http/stream.hpp"

namespace evershard::http {

/// Tells `progress` (`{"done":..,"total":..}`, at most five a second), then `result` or `error`.
class MaintenanceRun final : public Stream, public std::enable_shared_from_this<MaintenanceRun> {
 public:
  /// Does the work and gives the result's JSON.
  using Work = std::function<Result<std::string>(Progress progress)>;
  using Finished = std::function<void(const Result<std::string>& result)>;

  explicit MaintenanceRun(Work work) : work_(std::move(work)) {}
  /// In a thread that may be busy for as long as it takes. `finished`: called once, before the stream's last piece.
  void run(const Finished& finished);

  void next(Done done) override;
  void cancel() override;

 private:
  bool progressed(std::uint64_t done, std::uint64_t total);
  void tell(std::unique_lock<std::mutex>& lock);

  const Work work_;
  std::mutex mutex_;
  Done waiting_;
  std::optional<std::string> progress_;  ///< not told yet
  std::optional<std::string> ending_;
  std::chrono::steady_clock::time_point told_{};
  bool cancelled_ = false;
};

}  // namespace evershard::http
