// HookServer: a service of the test's own on loopback that takes POSTs, and has its bad days: it does what it is told
// by a key once, and is as slow, as short of words, or as absent as the test says.

#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace evershard::testing {

enum class HookDay {
  good,        ///< takes it, and says so
  busy,        ///< 503, and takes nothing
  deaf,        ///< closes the connection, and takes nothing
  dumb,        ///< takes it, and closes the connection
  slow,        ///< takes it, and says so too late
  displeased,  ///< 422
};

class HookServer {
 public:
  /// What becomes of the `nth` request, from 1, with the body.
  using Days = std::function<HookDay(const std::string& body, int nth)>;

  /// It has its port, and is not there yet: connections are refused.
  explicit HookServer(Days days, std::chrono::milliseconds slow = std::chrono::seconds(3))
      : days_(std::move(days)), slow_(slow), acceptor_(io_) {
    const Tcp::endpoint loopback(boost::asio::ip::address_v4::loopback(), 0);
    acceptor_.open(loopback.protocol());
    acceptor_.bind(loopback);
    address_ = "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  ~HookServer() { stop(); }
  HookServer(const HookServer&) = delete;
  HookServer& operator=(const HookServer&) = delete;

  void start() {
    acceptor_.listen();
    boost::asio::co_spawn(io_, accept(), boost::asio::detached);
    thread_ = std::thread([this] { io_.run(); });
  }
  void stop() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] const std::string& address() const { return address_; }

  struct Taken {
    std::string body;
    std::string receipt;
  };
  /// What took effect, by its key.
  [[nodiscard]] std::map<std::string, Taken> taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
  }
  /// How often each body came.
  [[nodiscard]] std::map<std::string, int> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  [[nodiscard]] int requests_in_all() const {
    int all = 0;
    for (const auto& [body, count] : requests()) all += count;
    return all;
  }

 private:
  using Tcp = boost::asio::ip::tcp;
  using Strings = boost::beast::http::string_body;

  boost::asio::awaitable<void> accept() {
    for (;;) {
      auto socket = co_await acceptor_.async_accept(boost::asio::use_awaitable);
      boost::asio::co_spawn(io_, serve(std::move(socket)), [](std::exception_ptr) {});  // who asked is gone
    }
  }

  boost::asio::awaitable<void> serve(Tcp::socket socket) {
    namespace http = boost::beast::http;
    boost::beast::tcp_stream stream(std::move(socket));
    boost::beast::flat_buffer buffer;
    http::request<Strings> request;
    co_await http::async_read(stream, buffer, request, boost::asio::use_awaitable);
    const std::string key(request["Idempotency-Key"]);
    HookDay day{};
    std::string receipt;
    {
      const std::lock_guard lock(mutex_);
      day = key.empty() ? HookDay::displeased : days_(request.body(), ++requests_[request.body()]);
      if (day == HookDay::good || day == HookDay::dumb || day == HookDay::slow)
        receipt = taken_.try_emplace(key, Taken{request.body(), "receipt-" + std::to_string(taken_.size() + 1)})
                      .first->second.receipt;
    }
    if (day == HookDay::deaf || day == HookDay::dumb) co_return;
    if (day == HookDay::slow) {
      boost::asio::steady_timer timer(io_, slow_);
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    http::response<Strings> answer(day == HookDay::busy         ? http::status::service_unavailable
                                   : day == HookDay::displeased ? http::status::unprocessable_entity
                                                                : http::status::ok,
                                   11);
    answer.body() = day == HookDay::busy ? "later" : day == HookDay::displeased ? "never" : receipt;
    answer.keep_alive(false);
    answer.prepare_payload();
    co_await http::async_write(stream, answer, boost::asio::use_awaitable);
    boost::beast::error_code ignored;
    stream.socket().shutdown(Tcp::socket::shutdown_send, ignored);
  }

  const Days days_;
  const std::chrono::milliseconds slow_;
  boost::asio::io_context io_{1};
  Tcp::acceptor acceptor_;
  std::string address_;
  mutable std::mutex mutex_;
  std::map<std::string, Taken> taken_;
  std::map<std::string, int> requests_;
  std::thread thread_;
};

}  // namespace evershard::testing
