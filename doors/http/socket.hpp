// Socket: a connection's bytes, plain or TLS.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

namespace evershard::http {

/// One read and one write at a time; handlers are kept until they were called, also when it is closed.
class Socket {
 public:
  using Error = boost::system::error_code;
  using Done = std::function<void(const Error& error, std::size_t bytes)>;
  virtual ~Socket() = default;
  /// TLS's greeting; of a plain one, nothing.
  virtual void greet(std::function<void(const Error& error)> done) = 0;
  virtual void read_some(std::span<char> into, Done done) = 0;
  virtual void write_some(std::string_view bytes, Done done) = 0;
  /// Nothing more is sent.
  virtual void finish(std::function<void()> done) = 0;
  virtual void close() = 0;
};

/// `tls`: null: plain.
[[nodiscard]] std::unique_ptr<Socket> make_socket(boost::asio::ip::tcp::socket socket,
                                                  const std::shared_ptr<boost::asio::ssl::context>& tls);
/// The other side ended in good order, or without TLS's goodbye.
[[nodiscard]] bool is_end(const Socket::Error& error);

}  // namespace evershard::http
