// HttpOptions: where the HTTP door listens, what it shows beside the store, and what it bounds.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/doors/serving/tls_files.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::http {

struct HttpLimits {
  std::size_t connections = 256;  ///< at so many, the one that has been idle for longest goes; all busy: 503
  std::size_t streams = 128;      ///< live streams, of the connections; then 429
  std::size_t header_bytes = 16u << 10;
  std::size_t body_bytes = 16u << 20;
  std::size_t all_bodies_bytes =
      64u << 20;  ///< of requests that are being read or handled, all connections together; then 429
  std::size_t all_answers_bytes =
      256u << 20;  ///< of answers that clients have not taken yet, all connections together; then 429
  std::size_t response_bytes = 8u << 20;  ///< a list of events ends early, and says so, where it is longer
  std::chrono::milliseconds header_time = std::chrono::seconds(10);  ///< to send a request's header; TLS's greeting too
  std::chrono::milliseconds body_time = std::chrono::seconds(60);
  std::chrono::milliseconds idle_time = std::chrono::seconds(60);  ///< between two requests
  std::chrono::milliseconds write_time =
      std::chrono::seconds(30);                    ///< to take an answer, or a piece of a stream, and on top of it
  std::size_t write_bytes_per_second = 16u << 10;  ///< what a slow line is granted for its size
  std::chrono::milliseconds heartbeat = std::chrono::seconds(10);  ///< of live streams that have nothing to tell
  std::chrono::milliseconds stats_every = std::chrono::seconds(1);
  std::chrono::milliseconds at_least_time = std::chrono::seconds(30);  ///< how long a read waits for its `at_least`
};

struct HttpOptions {
  std::string listen = "127.0.0.1:7421";  ///< HOST:PORT, [IPV6]:PORT; port 0: a free one
  serving::TlsFiles tls{};                ///< read again by HttpDoor::reload_tls()
  /// Names, beside addresses and localhost, by which clients may call this server. Asked only where a browser that was
  /// lured to a foreign name could get in: on loopback, and without tokens. Source: docs/http-api.md, "Browsers"
  std::vector<std::string> hosts{};
  HttpLimits limits{};
  std::string version = "0.1.0";
  Limits store_limits{};  ///< shown by /api/v1/info
  /// Name and addresses (`a, b`) of what else the process listens on, shown by /api/v1/info.
  std::vector<std::pair<std::string, std::string>> other_doors{};
  /// The JSON of /api/v1/settings. Empty: the route is not there.
  std::function<std::string()> settings{};
};

}  // namespace evershard::http
