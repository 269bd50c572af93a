// WakeUp: ends another thread's poll(), from any thread.

#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "evershard/cluster/link/link_socket.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard::cluster {

class WakeUp {
 public:
  WakeUp() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    EVERSHARD_CHECK(event_.number() >= 0, "an eventfd can be had");
  }
  void wake() const {
    const std::uint64_t one = 1;
    // A counter that is full wakes as well.
    (void)!::write(event_.number(), &one, sizeof one);
  }
  void clear() const {
    std::uint64_t count = 0;
    // Nothing to read: somebody was faster.
    (void)!::read(event_.number(), &count, sizeof count);
  }
  [[nodiscard]] int number() const { return event_.number(); }

 private:
  Descriptor event_;
};

}  // namespace evershard::cluster
