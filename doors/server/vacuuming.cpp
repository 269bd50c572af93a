#include "evershard/doors/server/vacuuming.hpp"

namespace evershard::server {

std::chrono::milliseconds due_in(std::chrono::milliseconds every, std::optional<Timestamp> last, Timestamp now) {
  using std::chrono::milliseconds;
  if (!last) return milliseconds(0);
  if (*last >= now) return every;
  const milliseconds since((now.micros - last->micros) / 1'000);
  return since < every ? every - since : milliseconds(0);
}

Vacuuming::Vacuuming(std::string what, Work todo, std::chrono::milliseconds every, serving::Log& log,
                     std::optional<std::chrono::milliseconds> first)
    : what_(std::move(what)), todo_(std::move(todo)), every_(every), first_(first.value_or(every)), log_(log) {
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
  constexpr std::chrono::milliseconds wait_max = std::chrono::hours(24 * 365);
  for (auto wait = std::min(first_, wait_max);; wait = std::min(every_, wait_max)) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, wait, [this] { return stopping_; })) return;
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto done = todo_([this](std::uint64_t, std::uint64_t) { return !stopping(); });
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    if (done)
      log_.info(what_ + " done", {{"ms", took.count()}});
    else if (done.error().code == ErrorCode::cancelled)
      log_.info(what_ + " cancelled", {{"ms", took.count()}});
    else
      log_.warning(what_ + " failed", {{"code", name_of(done.error().code)}, {"error", done.error().what}});
  }
}

}  // namespace evershard::server
