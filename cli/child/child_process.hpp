// ChildProcess: this very program, run again with other words; its first line is waited for, its end noticed.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::cli {

/// It ends with its parent, whatever becomes of that one.
class ChildProcess {
 public:
  /// `words`: of the command line, behind the program's name. What it says on standard error goes to the end of `log`.
  /// `orphaned`: the signal it is sent when its parent ends; SIGKILL reaches one that is frozen, too. `program`: empty:
  /// this one. Errors: io
  [[nodiscard]] static Result<ChildProcess> start(std::vector<std::string> words, const std::filesystem::path& log,
                                                  int orphaned = SIGTERM, const std::filesystem::path& program = {});
  ChildProcess() = default;  ///< none
  /// Ends the child process at once, if it still runs.
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The first word behind `ready ` on its first line. Absent: it has not said so in all that time, or has ended.
  [[nodiscard]] std::optional<std::string> wait_ready(std::chrono::milliseconds timeout);
  /// What it says, line by line, up to one that begins so. Absent: it has not said so in all that time, or has ended.
  [[nodiscard]] std::optional<std::vector<std::string>> lines_until(std::string_view begins,
                                                                    std::chrono::milliseconds timeout);
  /// The first address of another door of its, behind that door's name on the same line. Absent: it has none.
  [[nodiscard]] std::optional<std::string> door(std::string_view speaks) const;
  /// Looks; the exit status, or 128 and the signal. Absent: it is running.
  [[nodiscard]] std::optional<int> ended();
  void signal(int number) const;
  /// User and system time, in seconds; 0: it has ended.
  [[nodiscard]] double cpu_seconds() const;

 private:
  ChildProcess(pid_t pid, int out) : pid_(pid), out_(out) {}
  void finish();
  /// More of what it says. Returns: whether any came.
  bool hear(std::chrono::steady_clock::time_point until);

  pid_t pid_ = -1;
  int out_ = -1;
  std::string said_;
};

}  // namespace evershard::cli
