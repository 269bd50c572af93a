#include "evershard/doors/rpc/loop.hpp"

#include <boost/asio/post.hpp>

#include <vector>

namespace evershard::rpc {

Loop::Loop(const Methods& m, const RpcServerOptions& o) : methods(m), options(o), thread_([this] { io.run(); }) {}

Loop::~Loop() { join(); }

void Loop::join() {
  if (!thread_.joinable()) return;
  boost::asio::post(io, [this] {
    work_.reset();
    timer_.cancel();
  });
  thread_.join();
}

Loop::Deadlines::iterator Loop::expires(Context::Clock::time_point at, const std::shared_ptr<RpcCall>& call) {
  const auto added = deadlines_.emplace(at, call);
  if (added == deadlines_.begin()) look_at_deadlines();
  return added;
}

void Loop::look_at_deadlines() {
  const auto now = Context::Clock::now();
  std::vector<std::shared_ptr<RpcCall>> late;
  for (auto next = deadlines_.begin(); next != deadlines_.end() && next->first <= now; ++next)
    if (auto call = next->second.lock()) late.push_back(std::move(call));
  for (const auto& call : late) {
    call->expire();
    call->wake();  // its connection sends what it says
  }
  // Those that expired are forgotten with their calls, and are not looked at again.
  const auto next = deadlines_.upper_bound(now);
  if (next == deadlines_.end()) return;
  timer_.expires_after(next->first - now);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) look_at_deadlines();
  });
}

}  // namespace evershard::rpc
