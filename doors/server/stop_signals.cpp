#include "evershard/doors/server/stop_signals.hpp"

#include <ctime>

namespace evershard::server {

StopSignals::StopSignals() {
  sigemptyset(&set_);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, number);
  ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

Asked StopSignals::wait(std::chrono::milliseconds timeout) const {
  const auto count = std::max<std::chrono::milliseconds::rep>(timeout.count(), 0);
  const timespec span{static_cast<std::time_t>(count / 1'000), static_cast<long>(count % 1'000) * 1'000'000};
  const int number = ::sigtimedwait(&set_, nullptr, &span);
  if (number == SIGHUP) return Asked::reload;
  return number == SIGTERM || number == SIGINT ? Asked::stop : Asked::nothing;
}

}  // namespace evershard::server
