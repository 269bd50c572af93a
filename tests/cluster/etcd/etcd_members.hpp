// EtcdMembers: a real etcd of one member or three, on loopback, stopped with the object.

#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "evershard/cluster/etcd/etcd_options.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {

class EtcdMembers {
 public:
  /// Returns when they have a leader. A failure of gtest: it cannot be started.
  EtcdMembers(std::filesystem::path folder, std::size_t count);

  [[nodiscard]] std::size_t count() const { return members_.size(); }
  void start(std::size_t member);
  void kill(std::size_t member);
  void signal(std::size_t member, int number);
  [[nodiscard]] std::filesystem::path data(std::size_t member) const;
  /// Whether a client is answered by it in so long, which takes a leader.
  [[nodiscard]] bool answers(std::size_t member, std::chrono::milliseconds within = std::chrono::seconds(20)) const;
  /// `first`: whom a client asks first.
  [[nodiscard]] cluster::EtcdOptions options(std::size_t first = 0) const;

 private:
  struct Member {
    std::string client;  ///< HOST:PORT
    std::string peer;
    std::unique_ptr<Process> process;
  };
  const std::filesystem::path folder_;
  std::vector<Member> members_;
};

}  // namespace evershard::testing
