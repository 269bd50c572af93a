#include "evershard/doors/server/ready_watch.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace evershard::server {
namespace {

constexpr std::chrono::milliseconds ready_looked_at_every{20};
constexpr std::chrono::milliseconds waiting_said_every = std::chrono::seconds(1);

}  // namespace

ReadyWatch::ReadyWatch(NotReady not_ready, std::function<void()> ready, serving::Log& log)
    : not_ready_(std::move(not_ready)), ready_(std::move(ready)), log_(log) {
  if (!not_ready_())
    ready_();
  else
    thread_ = std::thread([this] { work(); });
}

void ReadyWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ReadyWatch::work() {
  const auto began = std::chrono::steady_clock::now();
  auto say_at = began + waiting_said_every;
  std::string said;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, ready_looked_at_every, [this] { return stopping_; })) return;
    }
    const auto waits = not_ready_();
    const auto now = std::chrono::steady_clock::now();
    if (!waits) break;
    if (now < say_at || waits->what == said) continue;
    said = waits->what;
    say_at = now + waiting_said_every;
    log_.info("not serving yet", {{"waits_for", said}});
  }
  ready_();
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  log_.info("serving", {{"after_ms", took.count()}});
}

}  // namespace evershard::server
