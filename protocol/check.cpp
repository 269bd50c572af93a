#include "evershard/protocol/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace evershard {

void check_failed(const char* condition, const char* file, int line, const char* what) noexcept {
  std::fprintf(stderr, "evershard: %s:%d: broken invariant: %s (%s)\n", file, line, what, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace evershard
