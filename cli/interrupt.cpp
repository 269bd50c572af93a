#include "evershard/cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "evershard/cli/failure.hpp"

namespace evershard::cli {
namespace {

std::atomic<int> asked{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch it");

extern "C" void on_interrupt(int) {
  if (asked.fetch_add(1) > 0) ::_exit(static_cast<int>(Exit::interrupted));
}

}  // namespace

void listen_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;  // without SA_RESTART: a blocked read() comes back
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return asked.load() > 0; }

}  // namespace evershard::cli
