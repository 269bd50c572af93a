// A library that is loaded before all others (LD_PRELOAD) and tells a process another time of day: OTHER_CLOCK_SECONDS
// later than it is, or earlier. The steady clock stays as it is. Debian's faketime cannot do it: it asks for memory
// before it is ready, and jemalloc asks for the time.

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace {

using TimedWait = int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*);

time_t later() {
  static const char* const text = std::getenv("OTHER_CLOCK_SECONDS");
  static const time_t seconds = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return seconds;
}

/// Of a steady clock: it counts from when the machine was started.
bool is_no_time_of_day(const timespec& at) { return at.tv_sec < 20L * 365 * 86'400; }

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* to) noexcept {
  const auto done = static_cast<int>(::syscall(SYS_clock_gettime, clock, to));
  if (done == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) to->tv_sec += later();
  return done;
}

int gettimeofday(timeval* __restrict to, void* __restrict) noexcept {
  timespec at{};
  const int done = clock_gettime(CLOCK_REALTIME, &at);
  *to = {at.tv_sec, at.tv_nsec / 1'000};
  return done;
}

time_t time(time_t* to) noexcept {
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  if (to != nullptr) *to = at.tv_sec;
  return at.tv_sec;
}

// The kernel waits by the machine's own time of day.
int pthread_cond_timedwait(pthread_cond_t* __restrict condition, pthread_mutex_t* __restrict mutex,
                           const timespec* __restrict until) {
  static const auto wait = reinterpret_cast<TimedWait>(::dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2"));
  timespec own = *until;
  if (!is_no_time_of_day(own)) own.tv_sec -= later();
  return wait(condition, mutex, &own);
}

}  // extern "C"
