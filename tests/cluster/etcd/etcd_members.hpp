// EtcdMembers: a real etcd of one member or three, on loopback, stopped with the object.

#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/cluster/etcd/etcd_options.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {

class EtcdMembers {
 public:
  /// NAME.pem and NAME.key of: ca, and member and client signed by it.
  struct Papers {
    std::filesystem::path folder;
    [[nodiscard]] std::string certificate(const std::string& of) const { return (folder / (of + ".pem")).string(); }
    [[nodiscard]] std::string key(const std::string& of) const { return (folder / (of + ".key")).string(); }
  };
  /// Where a member runs, where that is not on loopback.
  struct Place {
    std::string host;
    std::vector<std::string> within;  ///< words before its own; they have to end in exec
  };
  using Places = std::function<Place(std::size_t member)>;
  /// Returns when they have a leader. A failure of gtest: it cannot be started. `papers`: clients come with TLS, and
  /// show who they are. `flags`: more of them, for each member.
  EtcdMembers(std::filesystem::path folder, std::size_t count, std::optional<Papers> papers = {}, Places places = {},
              std::vector<std::string> flags = {});

  [[nodiscard]] std::size_t count() const { return members_.size(); }
  void start(std::size_t member);
  void kill(std::size_t member);
  void signal(std::size_t member, int number);
  [[nodiscard]] std::filesystem::path data(std::size_t member) const;
  /// Whether a client is answered by it in so long, which takes a leader.
  [[nodiscard]] bool answers(std::size_t member, std::chrono::milliseconds within = std::chrono::seconds(60)) const;
  /// `first`: whom a client asks first.
  [[nodiscard]] cluster::EtcdOptions options(std::size_t first = 0) const;

 private:
  struct Member {
    std::string client;  ///< HOST:PORT
    std::string peer;
    std::unique_ptr<Process> process;
  };
  [[nodiscard]] bool is_healthy(std::size_t member, std::chrono::milliseconds within) const;

  const std::filesystem::path folder_;
  const std::optional<Papers> papers_;
  const Places places_;
  const std::vector<std::string> flags_;
  std::vector<Member> members_;
};

/// One of three members for all tests of an executable that have a prefix of their own.
[[nodiscard]] EtcdMembers& etcd_of_three();

}  // namespace evershard::testing
