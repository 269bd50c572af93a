#include "evershard/doors/http/socket.hpp"

#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <utility>

namespace evershard::http {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

void close_quietly(tcp::socket& socket) {
  Socket::Error ignored;
  socket.close(ignored);
}

class PlainSocket final : public Socket {
 public:
  explicit PlainSocket(tcp::socket socket) : socket_(std::move(socket)) {}
  void greet(std::function<void(const Error&)> done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}); });
  }
  void read_some(std::span<char> into, Done done) override {
    socket_.async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
  }
  void write_some(std::string_view bytes, Done done) override {
    socket_.async_write_some(asio::buffer(bytes.data(), bytes.size()), std::move(done));
  }
  void finish(std::function<void()> done) override {
    Error ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    done();
  }
  void close() override { close_quietly(socket_); }

 private:
  tcp::socket socket_;
};

class TlsSocket final : public Socket {
 public:
  TlsSocket(tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}
  void greet(std::function<void(const Error&)> done) override {
    stream_.async_handshake(asio::ssl::stream_base::server, std::move(done));
  }
  void read_some(std::span<char> into, Done done) override {
    stream_.async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
  }
  void write_some(std::string_view bytes, Done done) override {
    stream_.async_write_some(asio::buffer(bytes.data(), bytes.size()), std::move(done));
  }
  void finish(std::function<void()> done) override {
    stream_.async_shutdown([done = std::move(done)](const Error&) { done(); });
  }
  void close() override { close_quietly(stream_.next_layer()); }

 private:
  std::shared_ptr<asio::ssl::context> context_;
  asio::ssl::stream<tcp::socket> stream_;
};

}  // namespace

std::unique_ptr<Socket> make_socket(tcp::socket socket, const std::shared_ptr<asio::ssl::context>& tls) {
  if (tls) return std::make_unique<TlsSocket>(std::move(socket), tls);
  return std::make_unique<PlainSocket>(std::move(socket));
}

bool is_end(const Socket::Error& error) {
  return error == asio::error::eof || error == asio::ssl::error::stream_truncated;
}

}  // namespace evershard::http
