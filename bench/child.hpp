// Child: this program, run again as a server, a node or a coordinator, for the benchmark to speak to.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::bench {

/// Ends with the object, and with its parent.
class Child {
 public:
  /// `words`: of the command line, behind the program's name. Waits until it says `ready ADDRESS`. Errors: io: it does not
  [[nodiscard]] static Result<std::unique_ptr<Child>> start(std::vector<std::string> words, const std::filesystem::path& log);
  ~Child();
  Child(const Child&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// User and system time, in seconds.
  [[nodiscard]] double cpu_seconds() const;

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  std::string address_;
};

}  // namespace evershard::bench
