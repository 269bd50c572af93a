// Networks: a network namespace for each process of a test, every two of which are joined by a wire of their own.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/process/process.hpp"

namespace evershard::testing {

/// Made by unshare, ip and nsenter in namespaces of their own: nothing of it is seen outside, and it ends with the
/// object, or with the test's process, however that one ends. Files are everybody's.
class Networks {
 public:
  /// For the processes 0 to `processes` - 1.
  explicit Networks(std::uint32_t processes);

  /// Empty: they are there. Else what could not be made here, and why.
  [[nodiscard]] const std::string& missing() const { return missing_; }
  [[nodiscard]] static std::string host(std::uint32_t number) { return "10.77.0." + std::to_string(number + 1); }
  /// Words before a process's own.
  [[nodiscard]] std::vector<std::string> within(std::uint32_t number) const;

  /// What `from` sends to `to` gets lost, and nobody is told; the other way stays as it is.
  void drop(std::uint32_t from, std::uint32_t to);
  void let_through(std::uint32_t from, std::uint32_t to);
  /// Neither hears the other.
  void part(std::uint32_t a, std::uint32_t b) { drop(a, b), drop(b, a); }
  void join(std::uint32_t a, std::uint32_t b) { let_through(a, b), let_through(b, a); }
  /// What `from` sends to `to` goes at so many kilobits a second, and what does not fit into a short queue is lost.
  void slow(std::uint32_t from, std::uint32_t to, std::uint32_t kilobits);
  void fast(std::uint32_t from, std::uint32_t to);

 private:
  /// Runs `script` in this one's namespace. Returns: whether it went well.
  bool run_in(std::uint32_t number, const std::string& script);
  static std::string wire(std::uint32_t from, std::uint32_t to) {
    return "to" + std::to_string(to) + "of" + std::to_string(from);
  }

  std::unique_ptr<Process> holder_;  ///< of the user namespace
  std::vector<std::unique_ptr<Process>> holders_;
  std::string missing_;
};

}  // namespace evershard::testing
