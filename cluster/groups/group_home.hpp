// GroupHome: the groups that are at home on this node, as other nodes ask for them.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>

#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/services/groups/host/group_host.hpp"

namespace evershard::cluster {

/// The names of the calls by which other nodes work.
namespace group_calls {
inline constexpr const char* open = "groups.open";
inline constexpr const char* work = "groups.work";
}  // namespace group_calls

/// Keeps the sessions of workers at other nodes. One whose node has not asked for long is forgotten; its group lost it
/// before, by its lease.
///
/// Any thread. Owner: the host outlives it.
class GroupHome {
 public:
  explicit GroupHome(GroupHost& host) : host_(host) {}
  /// Before the node joins.
  void serve(HomeCalls& homes);
  /// Its sessions are over. Any number of times.
  void close();

  // What serve() registers.
  [[nodiscard]] Result<std::string> open(const HomeCall& call);
  /// Takes nothing any more when half of its time is over: who asks may not hear of it.
  [[nodiscard]] Result<std::string> work(const HomeCall& call);

 private:
  using Clock = std::chrono::steady_clock;
  struct Session {
    std::shared_ptr<HostedSession> session;
    Clock::time_point asked{};
  };

  [[nodiscard]] std::shared_ptr<HostedSession> find(std::uint64_t number);
  void forget(std::uint64_t number);
  void sweep();

  GroupHost& host_;
  std::mutex mutex_;
  std::map<std::uint64_t, Session> sessions_;
  std::mt19937_64 numbers_{std::random_device{}()};
  bool closed_ = false;
};

}  // namespace evershard::cluster
