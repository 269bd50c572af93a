#include "evershard/doors/rpc/rpc_server.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cstring>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "evershard/doors/rpc/rpc_connection.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::rpc {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Generic = asio::generic::stream_protocol;
using Acceptor = asio::basic_socket_acceptor<Generic>;
using SystemError = boost::system::error_code;

constexpr std::string_view unix_prefix = "unix:";
constexpr auto accept_again_after = std::chrono::milliseconds(50);
constexpr auto looked_at_every = std::chrono::milliseconds(1);

/// Errors: invalid_argument
Result<std::vector<Generic::endpoint>> endpoints_of(const std::string& address) {
  const auto wrong = [&] {
    return refuse(ErrorCode::invalid_argument,
                  in_quotes(address, 300) + " is no address to listen on: HOST:PORT, or unix:PATH");
  };
  if (address.starts_with(unix_prefix)) {
    const auto path = address.substr(unix_prefix.size());
    if (path.empty()) return wrong();
    try {
      return std::vector<Generic::endpoint>{asio::local::stream_protocol::endpoint(path)};
    } catch (const boost::system::system_error&) {
      return wrong();  // the path is too long
    }
  }
  const auto colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return wrong();
  auto host = address.substr(0, colon);
  const auto port = address.substr(colon + 1);
  constexpr std::size_t port_digits_max = 5;
  constexpr int port_max = 65'535;
  if (port.empty() || port.size() > port_digits_max || port.find_first_not_of("0123456789") != std::string::npos ||
      std::stoi(port) > port_max)
    return wrong();
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  asio::io_context io;
  SystemError error;
  const auto found = tcp::resolver(io).resolve(host, port, tcp::resolver::passive, error);
  if (error) return refuse(ErrorCode::unavailable, "cannot listen on " + address + ": " + error.message());
  std::vector<Generic::endpoint> endpoints;
  for (const auto& one : found) endpoints.emplace_back(one.endpoint());
  return endpoints;
}

tcp::endpoint tcp_of(const Generic::endpoint& endpoint) {
  tcp::endpoint made;
  std::memcpy(made.data(), endpoint.data(), std::min(endpoint.size(), made.capacity()));
  return made;
}

std::string text_of(const Generic::endpoint& endpoint) {
  if (endpoint.protocol().family() == AF_UNIX) return "unix:";
  const auto at = tcp_of(endpoint);
  const auto host = at.address().to_string();
  return at.address().is_v6() ? "ipv6:[" + host + "]:" + std::to_string(at.port())
                              : "ipv4:" + host + ':' + std::to_string(at.port());
}

}  // namespace

struct RpcServer::Impl {
  Impl(Methods m, RpcServerOptions o) : methods(std::move(m)), options(std::move(o)) {
    for (std::size_t i = 0; i != std::max<std::size_t>(1, options.threads); ++i)
      loops.push_back(std::make_unique<Loop>(methods, options));
  }

  struct Listening {
    Acceptor acceptor;
    asio::steady_timer again;
    std::string path;  ///< of a Unix socket: removed when it is closed
  };

  Result<std::string> listen(const std::string& address);
  void accept(Listening& at);
  void accepted(RpcConnection::Socket socket, Loop& loop);
  /// In each loop's thread, and waits until it was done.
  void in_each_loop(const std::function<void(Loop&)>& what);
  [[nodiscard]] std::size_t under_way() const;

  const Methods methods;
  const RpcServerOptions options;
  std::vector<std::unique_ptr<Loop>> loops;
  std::vector<std::unique_ptr<Listening>> listening;  ///< in the first loop
  std::vector<std::string> addresses;
  std::size_t next_loop = 0;
  std::mutex stopping;
  bool stopped = false;
};

Result<std::string> RpcServer::Impl::listen(const std::string& address) {
  const auto endpoints = endpoints_of(address);
  if (!endpoints) return refuse(endpoints.error());
  auto& io = loops.front()->io;
  std::string bound;
  for (auto endpoint : *endpoints) {
    auto at = std::make_unique<Listening>(Listening{Acceptor(io), asio::steady_timer(io), {}});
    SystemError error;
    at->acceptor.open(endpoint.protocol(), error);
    const bool is_unix = endpoint.protocol().family() == AF_UNIX;
    if (!error && !is_unix) at->acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && endpoint.protocol().family() == AF_INET6) {
      SystemError ignored;
      at->acceptor.set_option(asio::ip::v6_only(true), ignored);
    }
    if (!error) at->acceptor.bind(endpoint, error);
    if (!error) at->acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return refuse(ErrorCode::unavailable, "cannot listen on " + address + ": " + error.message());
    if (is_unix) {
      at->path = address.substr(unix_prefix.size());
      bound = address;
    } else if (bound.empty()) {
      bound =
          address.substr(0, address.rfind(':') + 1) + std::to_string(tcp_of(at->acceptor.local_endpoint(error)).port());
    }
    listening.push_back(std::move(at));
    if (is_unix || tcp_of(endpoint).port() == 0) break;  // any free port is one of one address
  }
  return bound;
}

void RpcServer::Impl::accept(Listening& at) {
  auto& loop = *loops[next_loop++ % loops.size()];
  at.acceptor.async_accept(loop.io, [this, &at, &loop](const SystemError& error, RpcConnection::Socket socket) {
    if (!at.acceptor.is_open()) return;
    if (!error) {
      asio::post(loop.io, [this, &loop, socket = std::move(socket)]() mutable { accepted(std::move(socket), loop); });
      return accept(at);
    }
    if (error == asio::error::connection_aborted) return accept(at);
    at.again.expires_after(accept_again_after);  // no descriptors left
    at.again.async_wait([this, &at](const SystemError& cancelled) {
      if (!cancelled && at.acceptor.is_open()) accept(at);
    });
  });
}

void RpcServer::Impl::accepted(RpcConnection::Socket socket, Loop& loop) {
  if (loop.stopping) return;
  SystemError error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return;  // gone already
  if (peer.protocol().family() != AF_UNIX) socket.set_option(tcp::no_delay(true), error);
  const auto connection = std::make_shared<RpcConnection>(loop, std::move(socket), text_of(peer));
  loop.connections.insert(connection);
  ++loop.open;
  connection->start();
}

void RpcServer::Impl::in_each_loop(const std::function<void(Loop&)>& what) {
  for (const auto& loop : loops) {
    std::promise<void> done;
    asio::post(loop->io, [&] {
      what(*loop);
      done.set_value();
    });
    done.get_future().wait();
  }
}

std::size_t RpcServer::Impl::under_way() const {
  std::size_t calls = 0;
  for (const auto& loop : loops) calls += loop->under_way;
  return calls;
}

RpcServer::RpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RpcServer::~RpcServer() { stop(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<RpcServer>> RpcServer::start(Methods methods, RpcServerOptions options) {
  if (options.listen.empty()) return refuse(ErrorCode::invalid_argument, "a server listens on one address at least");
  auto impl = std::make_unique<Impl>(std::move(methods), std::move(options));
  for (const auto& address : impl->options.listen) {
    auto bound = impl->listen(address);
    if (!bound) return refuse(std::move(bound).error());
    impl->addresses.push_back(*std::move(bound));
  }
  asio::post(impl->loops.front()->io, [at = impl.get()] {
    for (const auto& one : at->listening) at->accept(*one);
  });
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(impl)));
}

const std::vector<std::string>& RpcServer::addresses() const { return impl_->addresses; }

std::size_t RpcServer::connections() const {
  std::size_t open = 0;
  for (const auto& loop : impl_->loops) open += loop->open;
  return open;
}

void RpcServer::stop(std::chrono::milliseconds drain) {
  const std::lock_guard lock(impl_->stopping);
  if (std::exchange(impl_->stopped, true)) return;
  const auto began = std::chrono::steady_clock::now();
  impl_->in_each_loop([&](Loop& loop) {
    if (&loop == impl_->loops.front().get()) {
      SystemError ignored;
      for (const auto& at : impl_->listening) {
        at->acceptor.close(ignored);
        at->again.cancel();
        if (!at->path.empty()) ::unlink(at->path.c_str());
      }
    }
    loop.stopping = true;
    for (const auto& connection : std::vector(loop.connections.begin(), loop.connections.end())) connection->go_away();
  });
  while (impl_->under_way() != 0 && std::chrono::steady_clock::now() - began < drain)
    std::this_thread::sleep_for(looked_at_every);
  impl_->in_each_loop([](Loop& loop) {
    for (const auto& connection : std::vector(loop.connections.begin(), loop.connections.end())) connection->close();
  });
  while (impl_->under_way() != 0) std::this_thread::sleep_for(looked_at_every);
  for (const auto& loop : impl_->loops) loop->join();  // what is told of closed listeners is told by then
  impl_->listening.clear();
  impl_->loops.clear();
}

}  // namespace evershard::rpc
