// Served: a server in a process of its own, for the benchmark to speak to.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "evershard/protocol/result.hpp"

namespace evershard::bench {

/// A store in `directory` behind the door, and beside it an empty service of the same make, both on loopback. Ends with
/// the object.
class ServedStore {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ServedStore>> start(const std::filesystem::path& directory);
  ~ServedStore();
  ServedStore(const ServedStore&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  /// Answers every Append with nothing.
  [[nodiscard]] const std::string& echo_address() const { return echo_address_; }
  [[nodiscard]] std::uint64_t resident_bytes() const;
  /// User and system time, in seconds.
  [[nodiscard]] double cpu_seconds() const;

 private:
  ServedStore(pid_t child, int input) : child_(child), input_(input) {}

  pid_t child_;
  int input_;
  std::string address_;
  std::string echo_address_;
};

/// The inner process. Returns: its exit status.
int serve_for_benchmark(const char* directory);

}  // namespace evershard::bench
