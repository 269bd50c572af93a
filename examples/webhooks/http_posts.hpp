// HttpPosts: POSTs over HTTP, in one thread that waits for none of them.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <evershard/local.hpp>

namespace example {

struct HttpPost {
  std::string address;  ///< host:port
  std::string path;
  std::string body;
  std::string key;  ///< header Idempotency-Key: a service that knows it does it once
};
struct HttpAnswer {
  unsigned status = 0;
  std::string body;
};

/// With Boost.Beast, a connection a request. https is the same over beast::ssl_stream.
class HttpPosts {
 public:
  using Done = std::function<void(evershard::Result<HttpAnswer>)>;

  /// `timeout`: of one request, from its connection to the last byte of its answer.
  explicit HttpPosts(std::chrono::milliseconds timeout);
  /// Requests under way are given up, and their callers are told nothing more.
  ~HttpPosts();
  HttpPosts(const HttpPosts&) = delete;
  HttpPosts& operator=(const HttpPosts&) = delete;

  /// Any thread; returns at once. `done` comes from the thread of this object, with whatever status.
  /// Errors: invalid_argument: no address, or no path; unavailable: no answer, with the cause. It may have taken effect
  void post(HttpPost what, Done done);

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace example
