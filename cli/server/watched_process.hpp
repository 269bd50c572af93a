// WatchedProcess: a process of a cluster on this machine, started again when it ends.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/cli/child/child_process.hpp"

namespace evershard::cli {

/// Owner: one thread.
class WatchedProcess {
 public:
  /// `words`: behind the program's name. `program`: empty: this one.
  WatchedProcess(std::string name, std::vector<std::string> words, std::filesystem::path log,
                 std::filesystem::path program = {})
      : name_(std::move(name)), words_(std::move(words)), log_(std::move(log)), program_(std::move(program)) {}

  /// Without waiting for anything. Errors: io
  [[nodiscard]] Result<void> launch();
  /// Returns: where it serves. Errors: unavailable: it did not become ready; with what it said last, and where the rest
  /// of that is
  [[nodiscard]] Result<std::string> start();
  /// What has happened to the process, if anything has.
  [[nodiscard]] std::optional<std::string> look();
  void ask_to_stop() const {
    if (child_) child_->signal(SIGTERM);
  }
  [[nodiscard]] bool is_over() { return !child_ || child_->ended().has_value(); }
  [[nodiscard]] pid_t pid() const { return child_ ? child_->pid() : -1; }
  /// Beside the first, as " http HOST:PORT kurrent HOST:PORT"; empty: there are no others.
  [[nodiscard]] const std::string& other_doors() const { return other_doors_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::filesystem::path& log() const { return log_; }

 private:
  using Clock = std::chrono::steady_clock;
  void keep(const std::string& flag, const std::string& address);

  std::string name_;
  std::vector<std::string> words_;
  std::filesystem::path log_;
  std::filesystem::path program_;
  std::unique_ptr<ChildProcess> child_;
  std::string other_doors_;
  Clock::time_point since_{};
  std::chrono::milliseconds pause_{0};
  std::optional<Clock::time_point> again_at_;
};

/// All of a group at once; whoever does not end in time is ended with the object.
void stop_together(std::vector<WatchedProcess>& group, std::chrono::steady_clock::time_point until);

}  // namespace evershard::cli
