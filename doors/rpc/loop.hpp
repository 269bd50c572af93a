// Loop: a thread of a server, and what its connections share.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "evershard/doors/rpc/rpc_call.hpp"
#include "evershard/doors/rpc/rpc_server.hpp"

namespace evershard::rpc {

class RpcConnection;

/// Owner: its thread, but for what is said otherwise.
class Loop {
 public:
  using Deadlines = std::multimap<Context::Clock::time_point, std::weak_ptr<RpcCall>>;

  Loop(const Methods& methods, const RpcServerOptions& options);
  ~Loop();
  Loop(const Loop&) = delete;

  /// Whether the caller is its thread. Any thread.
  [[nodiscard]] bool is_here() const { return std::this_thread::get_id() == thread_.get_id(); }
  Deadlines::iterator expires(Context::Clock::time_point at, const std::shared_ptr<RpcCall>& call);
  void forget(Deadlines::iterator deadline) { deadlines_.erase(deadline); }
  /// Waits until nothing is left to do. Another thread, any number of times.
  void join();

  const Methods& methods;
  const RpcServerOptions& options;
  boost::asio::io_context io{1};
  std::set<std::shared_ptr<RpcConnection>> connections;
  std::array<char, 64u << 10> input;      ///< of whichever connection reads just now
  std::atomic<std::size_t> open{0};       ///< connections. Any thread
  std::atomic<std::size_t> under_way{0};  ///< calls. Any thread
  std::atomic<bool> stopping{false};      ///< no new calls. Any thread

 private:
  void look_at_deadlines();

  Deadlines deadlines_;
  boost::asio::steady_timer timer_{io};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io.get_executor()};
  std::thread thread_;
};

}  // namespace evershard::rpc
