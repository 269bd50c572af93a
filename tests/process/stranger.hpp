// Stranger: one process more than a cluster of processes has, which is to be refused.

#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tests/process/cluster_processes.hpp"

namespace evershard::testing {

/// Started like another one, with other flags; what it says is listened to.
class Stranger {
 public:
  Stranger(const ClusterProcesses& cluster, std::uint32_t like, const std::map<std::string, std::string>& instead)
      : process_(with_flags(cluster.words(like), instead)) {}
  [[nodiscard]] bool says(const std::string& text) { return process_.says(text); }
  [[nodiscard]] std::string said() { return process_.errors(); }
  /// Where it serves, once it is ready. Empty: it is not.
  [[nodiscard]] std::string address() { return process_.ready(); }
  Finished ended() { return process_.wait(std::chrono::seconds(120)); }

 private:
  Process process_;
};

}  // namespace evershard::testing
