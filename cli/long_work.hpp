// Long work of the library, with a progress line, stopped by Ctrl-C.

#pragma once

#include <atomic>
#include <string>

#include "evershard/cli/command.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/progress.hpp"

namespace evershard::cli {

/// Hand `progress()` to the library; afterwards `reached()` says how far it came.
class LongWork {
 public:
  LongWork(const Invocation& invocation, std::string what) : line_(invocation.terminal, std::move(what)) {}

  [[nodiscard]] Progress progress() {
    return [this](std::uint64_t done, std::uint64_t total) {
      done_ = done;
      total_ = total;
      line_.show(done, total);
      return !interrupted();
    };
  }
  /// The library's error; of an interruption with how far it came.
  [[nodiscard]] Failure failure(Error error) {
    line_.clear();
    if (error.code != ErrorCode::cancelled) return Failure(std::move(error));
    const bool known = total_ > 0;  // not of work that finds out by going
    Failure stopped(ErrorCode::cancelled,
                    "stopped at " + std::to_string(done_) + (known ? " of " + std::to_string(total_) : ""));
    stopped.figures.emplace_back("done", done_);
    if (known) stopped.figures.emplace_back("total", total_);
    return stopped;
  }
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_{0};
};

}  // namespace evershard::cli
