#include "evershard/doors/http/maintenance_run.hpp"

#include <utility>

#include "evershard/doors/http/response.hpp"

namespace evershard::http {
namespace {

constexpr auto told_every = std::chrono::milliseconds(200);

}  // namespace

void MaintenanceRun::run(const Finished& finished) {
  auto result = work_(
      [self = shared_from_this()](std::uint64_t done, std::uint64_t total) { return self->progressed(done, total); });
  finished(result);
  std::unique_lock lock(mutex_);
  ending_ = result ? server_sent_event("result", *result) : server_sent_event("error", error_json(result.error()));
  tell(lock);
}

bool MaintenanceRun::progressed(std::uint64_t done, std::uint64_t total) {
  std::unique_lock lock(mutex_);
  if (cancelled_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - told_ < told_every && done != total) return true;
  told_ = now;
  progress_ = server_sent_event("progress",
                                R"({"done":)" + std::to_string(done) + R"(,"total":)" + std::to_string(total) + '}');
  tell(lock);
  return true;
}

void MaintenanceRun::next(Done done) {
  std::unique_lock lock(mutex_);
  waiting_ = std::move(done);
  tell(lock);
}

void MaintenanceRun::tell(std::unique_lock<std::mutex>& lock) {
  if (!waiting_ || cancelled_ || (!progress_ && !ending_)) return;
  Piece piece{std::exchange(progress_, std::nullopt).value_or(std::string()) + ending_.value_or(std::string()),
              ending_.has_value()};
  const auto done = std::exchange(waiting_, nullptr);
  lock.unlock();
  done(std::move(piece));
}

void MaintenanceRun::cancel() {
  Done dropped;  // destroyed after the lock is given back
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  dropped = std::exchange(waiting_, nullptr);
}

}  // namespace evershard::http
