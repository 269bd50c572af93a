// PeerProcess: a server on loopback, what it costs and how often it syncs.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "evershard/cli/child/child_process.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::bench {

class PeerProcess {
 public:
  /// Returns when something listens on `port`. Errors: io
  [[nodiscard]] static Result<std::unique_ptr<PeerProcess>> start(const std::filesystem::path& program,
                                                                  std::vector<std::string> words, std::uint16_t port,
                                                                  const std::filesystem::path& folder);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;

  /// User and system time of it and of what it started, in seconds.
  [[nodiscard]] double cpu_seconds() const;
  /// Calls that waited for the disk.
  [[nodiscard]] std::uint64_t syncs() const;

 private:
  PeerProcess() = default;
  cli::ChildProcess process_;
  std::filesystem::path syncs_;
};

/// One that nobody listens on.
[[nodiscard]] std::uint16_t free_port();
/// Writes the folder's files to disk and drops their pages from the system's cache.
void drop_pages(const std::filesystem::path& folder);

}  // namespace evershard::bench
