#include "evershard/cluster/server/vacuuming.hpp"

namespace evershard::server {

Vacuuming::Vacuuming(Administration& administration, std::chrono::milliseconds every, serving::Log& log)
    : administration_(administration), every_(every), log_(log) {
  if (every_.count() > 0) thread_ = std::thread([this] { work(); });
}

void Vacuuming::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Vacuuming::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void Vacuuming::work() {
  // A span of centuries would overflow the clock.
  const auto wait = std::min<std::chrono::milliseconds>(every_, std::chrono::hours(24 * 365));
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, wait, [this] { return stopping_; })) return;
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto done = administration_.vacuum([this](std::uint64_t, std::uint64_t) { return !stopping(); });
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    if (done) log_.info("vacuum done", {{"ms", took.count()}});
    else if (done.error().code == ErrorCode::cancelled) log_.info("vacuum cancelled", {{"ms", took.count()}});
    else log_.warning("vacuum failed", {{"code", name_of(done.error().code)}, {"error", done.error().what}});
  }
}

}  // namespace evershard::server
