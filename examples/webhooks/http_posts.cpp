#include "examples/webhooks/http_posts.hpp"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <thread>
#include <utility>

namespace example {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using evershard::ErrorCode;
using evershard::refuse;
using evershard::Result;

constexpr std::size_t answer_bytes_max = 64u << 10;

/// No space and no line's end: what is written into a request's head ends where it is meant to.
bool is_one_word(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c != 127; });
}

/// Throws: boost::system::system_error
asio::awaitable<HttpAnswer> answer_to(const HttpPost& post, std::chrono::milliseconds timeout) {
  const auto colon = post.address.rfind(':');
  const auto io = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver names(io);
  const auto found =
      co_await names.async_resolve(post.address.substr(0, colon), post.address.substr(colon + 1), asio::use_awaitable);
  beast::tcp_stream stream(io);
  stream.expires_after(timeout);
  co_await stream.async_connect(found, asio::use_awaitable);

  http::request<http::string_body> request(http::verb::post, post.path, 11, post.body);
  request.set(http::field::host, post.address);
  request.set(http::field::content_type, "application/json");
  request.set("Idempotency-Key", post.key);
  request.set(http::field::connection, "close");
  request.prepare_payload();
  co_await http::async_write(stream, request, asio::use_awaitable);

  beast::flat_buffer buffer;
  http::response_parser<http::string_body> answer;
  answer.body_limit(answer_bytes_max);
  co_await http::async_read(stream, buffer, answer, asio::use_awaitable);
  co_return HttpAnswer{answer.get().result_int(), std::move(answer.get().body())};
}

asio::awaitable<void> perform(HttpPost post, std::chrono::milliseconds timeout, HttpPosts::Done done) {
  Result<HttpAnswer> answer;
  try {
    answer = co_await answer_to(post, timeout);
  } catch (const std::exception& failed) {
    answer = refuse(ErrorCode::unavailable, "POST http://" + post.address + post.path + ": " + failed.what());
  }
  done(std::move(answer));
}

}  // namespace

struct HttpPosts::Thread {
  std::chrono::milliseconds timeout;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> stays{io.get_executor()};
  std::thread thread{[this] { io.run(); }};
};

HttpPosts::HttpPosts(std::chrono::milliseconds timeout) : thread_(new Thread{timeout}) {}

HttpPosts::~HttpPosts() {
  thread_->io.stop();
  thread_->thread.join();
}

void HttpPosts::post(HttpPost what, Done done) {
  const auto colon = what.address.rfind(':');
  if (!is_one_word(what.address) || colon == std::string::npos)
    return done(refuse(ErrorCode::invalid_argument, "\"" + what.address + "\" is no HOST:PORT"));
  if (!is_one_word(what.path) || what.path.front() != '/')
    return done(refuse(ErrorCode::invalid_argument, "\"" + what.path + "\" is no path"));
  if (!std::ranges::all_of(what.key, [](unsigned char c) { return c >= ' ' && c != 127; }))
    return done(refuse(ErrorCode::invalid_argument, "a key with control characters"));
  asio::co_spawn(thread_->io, perform(std::move(what), thread_->timeout, std::move(done)),
                 [](std::exception_ptr thrown) {
                   if (thrown) std::rethrow_exception(thrown);
                 });
}

}  // namespace example
