// Process: a program under test, run for real: fed, watched, signalled, waited for with a deadline.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace evershard::testing {

struct ProcessOptions {
  std::map<std::string, std::string> environment{};  ///< added to ours
  std::string output_file{};                         ///< standard output goes there; empty: it is captured
  bool close_output = false;                         ///< begins with standard output closed
};

struct Finished {
  int status = -1;  ///< of exit; 128 + the signal's number; -1: killed at the deadline
  std::string out;
  std::string err;
};

/// Ends with the object: killed, where it still runs.
class Process {
 public:
  /// `words[0]` is the program's path.
  explicit Process(const std::vector<std::string>& words, const ProcessOptions& options = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// To its standard input; what nobody reads any more is dropped.
  void write(std::string_view text);
  void close_input();
  /// Waits until standard output has so many lines in all, and returns them; fewer: the deadline passed or it ended.
  std::vector<std::string> lines(std::size_t count, std::chrono::milliseconds deadline = std::chrono::seconds(120));
  /// What follows `ready ` on its first line: where it serves, mostly. Empty: it did not become ready.
  std::string ready(std::chrono::milliseconds deadline = std::chrono::seconds(120));
  /// What it has written to its standard error so far.
  [[nodiscard]] std::string errors();
  /// Whether the text comes to stand there, in so long.
  [[nodiscard]] bool says(const std::string& text, std::chrono::milliseconds deadline = std::chrono::seconds(120));
  void signal(int number);  ///< SIGSTOP: returns when it stands
  [[nodiscard]] int pid() const { return pid_; }
  /// Closes our end of its standard output: its next write meets a closed pipe.
  void stop_reading();
  Finished wait(std::chrono::milliseconds deadline = std::chrono::seconds(120));

 private:
  struct Capture {
    int descriptor = -1;
    std::string text;
    bool ended = false;
    std::thread thread;
  };
  void capture(Capture& from);

  int pid_ = -1;
  int input_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  Capture out_;
  Capture err_;
  bool stop_reading_ = false;
};

/// How many rounds a test goes: EVERSHARD_ROUNDS, where it is set.
[[nodiscard]] int rounds_or(int usual);
/// What a test's dice begin with: EVERSHARD_SEED, or anything.
[[nodiscard]] std::uint64_t seed_of_run();

/// Starts it, feeds it all of `input`, waits.
Finished run(const std::vector<std::string>& words, std::string_view input = {}, const ProcessOptions& options = {});

}  // namespace evershard::testing
