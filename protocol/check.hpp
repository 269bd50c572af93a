// Invariant checks that stay on in release builds: a broken promise between our own parts stops the process.

#pragma once

namespace evershard {
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const char* what) noexcept;
}

#define EVERSHARD_CHECK(condition, what) \
  ((condition) ? static_cast<void>(0) : ::evershard::check_failed(#condition, __FILE__, __LINE__, what))
