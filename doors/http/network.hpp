// Network: what all connections of a door share. All of it belongs to the network thread, but for what is said
// otherwise.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>

#include <boost/asio/io_context.hpp>

#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/http_options.hpp"

namespace evershard::http {

class Connection;

/// Counts what still works for this door, in whatever thread. Any thread.
class UnderWay {
 public:
  /// Held by everything that will call back.
  [[nodiscard]] std::shared_ptr<void> hold();
  void wait_for_none();

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::size_t held_ = 0;
};

struct Network {
  Network(const HttpOptions& o, serving::Served served, Surroundings around, std::string address)
      : options(o), api(std::move(served), o, std::move(around), std::move(address)) {}

  const HttpOptions options;
  boost::asio::io_context io{1};
  UnderWay under_way;
  Api api;
  std::set<std::shared_ptr<Connection>> connections;
  std::size_t streams = 0;
  std::size_t body_bytes = 0;    ///< of requests being read or handled
  std::size_t answer_bytes = 0;  ///< on their way to clients
  bool stopping = false;

  // Any thread.
  std::mutex mutex;
  std::condition_variable less_to_do;
  std::size_t requests = 0;  ///< being handled or answered; live streams only while they are being ended
  bool wound_down = false;   ///< all connections were told that the door is closing
};

}  // namespace evershard::http
