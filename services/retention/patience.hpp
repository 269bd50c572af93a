// Patience: an operation of retention waits where sealing lags behind.

#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <type_traits>

#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// An operation that has begun, or is the thousandth of a run, is not to end because the store is busy for a moment.
constexpr std::chrono::milliseconds usual_patience{10'000};

/// Writes, and tries again while the store answers `overloaded`, which says that nothing was written. Before each
/// further try `go_on`, where there is one, says whether the operation goes on.
///
/// Errors: those of `write`; overloaded: it was so for longer than that; those of `go_on`
template <class Write>
std::invoke_result_t<const Write&> patiently(const Write& write, std::chrono::milliseconds patience = usual_patience,
                                             const std::function<Result<void>()>& go_on = {}) {
  constexpr std::chrono::milliseconds looks_every{5};
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    auto done = write();
    if (done || done.error().code != ErrorCode::overloaded || std::chrono::steady_clock::now() >= until) return done;
    if (go_on) EVERSHARD_TRY(go_on());
    std::this_thread::sleep_for(looks_every);
  }
}

}  // namespace evershard::cluster
