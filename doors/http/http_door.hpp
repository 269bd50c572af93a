// HttpDoor: the store as a JSON API over HTTP/1.1, with metrics, health and the page.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "evershard/doors/http/http_options.hpp"
#include "evershard/doors/serving/served.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::http {

/// One thread of its own for the network; what may wait for the disk runs in the pool.
/// Owner:  outlived by what `served` refers to; the WorkPool's threads run until the door has stopped.
/// Source: docs/http-api.md.
class HttpDoor {
 public:
  /// Errors: invalid_argument (an address that is none, TLS files that do not fit together), not_found (a file),
  ///         unavailable (the port is in use, the address is not of this machine), io
  [[nodiscard]] static Result<std::unique_ptr<HttpDoor>> start(const serving::Served& served, HttpOptions options);
  /// stop(), without waiting for requests.
  ~HttpDoor();
  HttpDoor(const HttpDoor&) = delete;

  /// HOST:PORT as it listens.
  [[nodiscard]] std::string address() const;
  /// Reads the TLS files again, for connections from now on. Errors: as start(); then the old ones stay.
  [[nodiscard]] Result<void> reload_tls();
  /// Tokens were read anew: live streams that would not be admitted any more end.
  void look_at_tokens_again();
  /// From now on /health answers 503; live streams end; requests under way have `drain` to be answered, then their
  /// connections are closed. Always ends; any number of times.
  void stop(std::chrono::milliseconds drain);

 private:
  struct Impl;
  explicit HttpDoor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::http
