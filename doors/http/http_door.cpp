#include "evershard/doors/http/http_door.hpp"

#include <openssl/ssl.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "evershard/doors/http/http_connection.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::http {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using SystemError = boost::system::error_code;
using Tls = std::shared_ptr<asio::ssl::context>;

constexpr std::size_t turned_away_max = 32;
constexpr auto accept_again_after = std::chrono::milliseconds(50);

Result<tcp::endpoint> endpoint_of(const std::string& listen) {
  const auto colon = listen.rfind(':');
  const auto wrong = [&](const std::string& what) {
    return refuse(ErrorCode::invalid_argument, "listen address " + in_quotes(listen, 100) + ": " + what);
  };
  if (colon == std::string::npos || colon == 0) return wrong("it is HOST:PORT, or [IPV6]:PORT");
  std::string host = listen.substr(0, colon);
  const auto port = read_number(listen.substr(colon + 1), "port");
  if (!port || *port > 65'535) return wrong("a port is a number from 0 to 65535");
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    return wrong("an IPv6 address stands in brackets");
  SystemError error;
  const auto address = asio::ip::make_address(host, error);
  if (!error) return tcp::endpoint(address, static_cast<unsigned short>(*port));
  asio::io_context io;
  const auto found = tcp::resolver(io).resolve(host, std::to_string(*port), error);
  if (error || found.empty()) return wrong("the host is not known: " + error.message());
  for (const auto& one : found) {
    if (one.endpoint().address().is_v4()) return one.endpoint();
  }
  return found.begin()->endpoint();
}

std::string text_of(const tcp::endpoint& endpoint) {
  const auto address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? '[' + address + ']' : address) + ':' + std::to_string(endpoint.port());
}

Result<Tls> load_tls(const serving::TlsFiles& files) {
  if (!files.given()) return Tls();
  if (files.certificate.empty() || files.key.empty())
    return refuse(ErrorCode::invalid_argument, "TLS takes a certificate and its key, both");
  for (const auto* file : {&files.certificate, &files.key, &files.client_ca}) {
    std::error_code ignored;
    if (!file->empty() && !std::filesystem::exists(*file, ignored))
      return refuse(ErrorCode::not_found, "there is no file " + in_quotes(*file, 200));
  }
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SystemError error;
  const auto wrong = [&](const std::string& file, const std::string& what) {
    return refuse(ErrorCode::invalid_argument, in_quotes(file, 200) + " " + what + ": " + error.message());
  };
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION);
  if (context->use_certificate_chain_file(files.certificate, error))
    return wrong(files.certificate, "holds no certificates");
  if (context->use_private_key_file(files.key, asio::ssl::context::pem, error))
    return wrong(files.key, "holds no key for " + in_quotes(files.certificate, 200));
  if (SSL_CTX_check_private_key(context->native_handle()) != 1)
    return wrong(files.key, "is not the key of " + in_quotes(files.certificate, 200));
  if (!files.client_ca.empty()) {
    if (context->load_verify_file(files.client_ca, error)) return wrong(files.client_ca, "holds no certificates");
    SSL_CTX_set_session_id_context(context->native_handle(), reinterpret_cast<const unsigned char*>("evershard"), 9);
    context->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert, error);
  }
  return context;
}

}  // namespace

std::shared_ptr<void> UnderWay::hold() {
  const std::lock_guard lock(mutex_);
  ++held_;
  return std::shared_ptr<void>(this, [this](void*) {
    const std::lock_guard given_back(mutex_);
    if (--held_ == 0) none_.notify_all();
  });
}

void UnderWay::wait_for_none() {
  std::unique_lock lock(mutex_);
  none_.wait(lock, [this] { return held_ == 0; });
}

struct HttpDoor::Impl {
  Impl(std::shared_ptr<Network> n, cluster::WorkPool& p, serving::TlsFiles files, Tls t)
      : network(std::move(n)),
        pool(p),
        tls_files(std::move(files)),
        acceptor(network->io),
        again(network->io),
        tick(network->io),
        tls(std::move(t)) {}

  void accept();
  void accepted(tcp::socket socket);
  [[nodiscard]] bool make_room();
  void take_samples();
  void stop(std::chrono::milliseconds drain);

  std::shared_ptr<Network> network;
  cluster::WorkPool& pool;
  const serving::TlsFiles tls_files;
  std::string address;

  // Of the network thread.
  tcp::acceptor acceptor;
  asio::steady_timer again;
  asio::steady_timer tick;
  Tls tls;
  std::size_t turned_away = 0;
  bool sampling = false;

  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
  std::thread thread;
  std::mutex stop_mutex;
};

// -- accepting

void HttpDoor::Impl::accept() {
  acceptor.async_accept([this](const SystemError& error, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (!error) {
      accepted(std::move(socket));
      return accept();
    }
    if (error == asio::error::connection_aborted) return accept();
    // No descriptors left: one that is idle makes room.
    (void)make_room();
    network->api.metrics().connection_refused("http", "no_descriptors");
    again.expires_after(accept_again_after);
    again.async_wait([this](const SystemError& cancelled) {
      if (!cancelled && acceptor.is_open()) accept();
    });
  });
}

void HttpDoor::Impl::accepted(tcp::socket socket) {
  SystemError ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  const auto from = socket.remote_endpoint(ignored).address().to_string();
  const auto& limits = network->options.limits;
  if (network->connections.size() >= limits.connections && !make_room()) {
    network->api.metrics().connection_refused("http", "full");
    if (tls || network->connections.size() >= limits.connections + turned_away_max) return;
    const auto connection =
        std::make_shared<Connection>(*network, network, make_socket(std::move(socket), nullptr), from);
    network->connections.insert(connection);
    return connection->turn_away();
  }
  const auto connection = std::make_shared<Connection>(*network, network, make_socket(std::move(socket), tls), from);
  network->connections.insert(connection);
  connection->start();
}

/// Closes the connection that has been idle for longest.
bool HttpDoor::Impl::make_room() {
  std::shared_ptr<Connection> oldest;
  for (const auto& connection : network->connections) {
    if (connection->is_idle() && (!oldest || connection->since() < oldest->since())) oldest = connection;
  }
  if (!oldest) return false;
  network->api.metrics().connection_refused("http", "idle_for_longest");
  oldest->close();
  return true;
}

void HttpDoor::Impl::take_samples() {
  tick.expires_after(network->options.limits.stats_every);
  tick.async_wait([this](const SystemError& cancelled) {
    if (cancelled || network->stopping) return;
    if (!sampling) {
      sampling = true;
      pool.run([this, hold = network->under_way.hold()] {
        if (auto sample = network->api.sample()) network->api.live_stats().add(*std::move(sample));
        asio::post(network->io, [this] { sampling = false; });
      });
    }
    take_samples();
  });
}

// -- starting and stopping

Result<std::unique_ptr<HttpDoor>> HttpDoor::start(const serving::Served& served, HttpOptions options) {
  const auto endpoint = endpoint_of(options.listen);
  if (!endpoint) return refuse(endpoint.error());
  auto tls = load_tls(options.tls);
  if (!tls) return refuse(std::move(tls).error());
  const auto& limits = options.limits;
  if (limits.connections == 0 || limits.header_bytes < 256 || limits.write_bytes_per_second == 0 ||
      limits.stats_every.count() <= 0) {
    return refuse(
        ErrorCode::invalid_argument,
        "limits: at least one connection, 256 bytes of header, a byte a second, and some time between two samples");
  }

  // Bound first: the address, with its port, is part of what is shown.
  asio::io_context probe;
  tcp::acceptor bound(probe);
  SystemError error;
  bound.open(endpoint->protocol(), error);
  if (!error) bound.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) bound.bind(*endpoint, error);
  if (!error) bound.listen(asio::socket_base::max_listen_connections, error);
  if (error) return refuse(ErrorCode::unavailable, "cannot listen on " + text_of(*endpoint) + ": " + error.message());
  const auto local = bound.local_endpoint(error);

  Surroundings around{local.address().is_loopback(), *tls != nullptr, options.hosts};
  auto network = std::make_shared<Network>(options, served, std::move(around), text_of(local));
  auto impl = std::make_unique<Impl>(network, served.pool, options.tls, *std::move(tls));
  impl->address = text_of(local);
  const auto native = bound.release(error);
  if (!error) impl->acceptor.assign(endpoint->protocol(), native, error);
  if (error) return refuse(ErrorCode::io, "cannot listen on " + text_of(*endpoint) + ": " + error.message());
  impl->work.emplace(asio::make_work_guard(network->io));
  impl->accept();
  impl->take_samples();
  impl->thread = std::thread([io = &network->io] { io->run(); });
  return std::unique_ptr<HttpDoor>(new HttpDoor(std::move(impl)));
}

HttpDoor::HttpDoor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpDoor::~HttpDoor() { stop(std::chrono::milliseconds(0)); }

std::string HttpDoor::address() const { return impl_->address; }

Result<void> HttpDoor::reload_tls() {
  if (!impl_->tls_files.given()) return {};
  auto tls = load_tls(impl_->tls_files);
  if (!tls) return refuse(std::move(tls).error());
  asio::post(impl_->network->io, [impl = impl_.get(), tls = *std::move(tls)] { impl->tls = tls; });
  return {};
}

void HttpDoor::look_at_tokens_again() {
  asio::post(impl_->network->io, [network = impl_->network.get()] {
    const auto connections = network->connections;  // they take themselves out
    for (const auto& connection : connections) connection->look_at_token_again();
  });
}

void HttpDoor::stop(std::chrono::milliseconds drain) { impl_->stop(drain); }

void HttpDoor::Impl::stop(std::chrono::milliseconds drain) {
  const std::lock_guard one_at_a_time(stop_mutex);
  if (!thread.joinable()) return;
  const auto of_all = [this](void (Connection::*what)()) {
    const auto connections = network->connections;  // they take themselves out
    for (const auto& connection : connections) (connection.get()->*what)();
  };
  network->api.stop();
  asio::post(network->io, [this, of_all] {
    network->stopping = true;
    tick.cancel();
    of_all(&Connection::wind_down);
    const std::lock_guard lock(network->mutex);
    network->wound_down = true;
    network->less_to_do.notify_all();
  });
  {
    // New connections are still accepted, and told.
    std::unique_lock lock(network->mutex);
    network->less_to_do.wait_for(lock, drain, [this] { return network->wound_down && network->requests == 0; });
  }
  asio::post(network->io, [this, of_all] {
    SystemError ignored;
    acceptor.close(ignored);
    again.cancel();
    of_all(&Connection::close);
  });
  network->under_way.wait_for_none();  // nobody of the pool's threads works for this door any more
  network->api.end_maintenance();
  work.reset();
  thread.join();
  network->under_way.wait_for_none();  // for a sample that was begun meanwhile: no further sample is begun
}

}  // namespace evershard::http
