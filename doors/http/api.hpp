// Api: what is behind every route: a request that was admitted becomes an answer. No socket.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "evershard/doors/http/guard.hpp"
#include "evershard/doors/http/http_options.hpp"
#include "evershard/doors/http/live_stats.hpp"
#include "evershard/doors/http/router.hpp"
#include "evershard/doors/http/stream.hpp"
#include "evershard/doors/http/target.hpp"
#include "evershard/doors/serving/served.hpp"
#include "evershard/doors/serving/types_cache.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard::http {

/// A client that may go away: the work for the client is told when it does.
class Interest {
 public:
  [[nodiscard]] bool gone() const { return gone_.load(); }
  /// `tell` is called once; at once where the client is gone already.
  void when_gone(std::function<void()> tell);
  void go();

 private:
  std::atomic<bool> gone_{false};
  std::mutex mutex_;
  std::vector<std::function<void()>> tell_;
};

struct Asked {
  Request request;  ///< whole
  Target target;
  const Route* route = nullptr;
  std::string argument;
  serving::Caller caller;
  std::string client;  ///< of serving::ClientGate
};

/// Functions may be called from any thread, unless they say otherwise.
/// Source: docs/http-api.md.
class Api {
 public:
  Api(serving::Served in_service, const HttpOptions& given, Surroundings here, std::string listens_at);

  /// From its header alone, so that nobody's body is read who may not ask, or has had his share. Cheap, waits for
  /// nothing. `client_address`: without its port.
  [[nodiscard]] tl::expected<Asked, Refusal> admit(const Request& head, std::string_view client_address) const;
  /// A body whose length its header did not say. Returns: why it is not taken.
  [[nodiscard]] std::optional<Refusal> over_limit(const std::string& client, std::uint64_t requests,
                                                  std::uint64_t bytes) const;
  /// One of the client's live streams, as long as it is held.
  [[nodiscard]] tl::expected<serving::ClientGate::Stream, Refusal> open_stream(const std::string& client) const;
  /// Answers always; what may wait for the disk runs in the pool. `interest` is kept as long as something works for it.
  void answer(Asked asked, Interested interest, Answered answered);
  /// Of which fork answers are, and whose order they follow.
  [[nodiscard]] Headers history() const;
  /// OPTIONS.
  [[nodiscard]] Response options_of(const Request& request) const;

  void stop() { stopping_ = true; }
  /// Ends the work of maintenance. Shape: no request that waits for such work is under way any more.
  void end_maintenance() { maintenance_.reset(); }
  [[nodiscard]] LiveStats& live_stats() { return live_stats_; }
  /// One for all who watch, in the pool.
  [[nodiscard]] Result<StatsSample> sample() const;
  /// `route`: one of routes().
  [[nodiscard]] serving::MethodMetrics& metrics_of(const Route& route) {
    return *methods_[static_cast<std::size_t>(&route - routes().data())];
  }
  /// The metrics of requests that are refused before their route, or their client, is known.
  [[nodiscard]] serving::MethodMetrics& metrics_of_no_route() { return served.metrics->method("http", "none"); }
  [[nodiscard]] serving::Metrics& metrics() { return *served.metrics; }

  // What the handlers of routes work with.

  /// In the pool, for somebody who may go: what is read for him ends then.
  void run_for(const Interested& interest, std::function<void()> work);
  /// One at a time, in a thread of its own: `work` gives the JSON of its result. The answer is that, or a stream that
  /// says how far it is, where the client takes one.
  void maintain(const Asked& asked, const Interested& interest, const Answered& answered,
                std::function<Result<std::string>(Progress progress)> work);
  [[nodiscard]] bool stopping() const { return stopping_; }

  const serving::Served served;
  const HttpOptions options;
  const Surroundings around;
  const std::string address;
  const Timestamp started_at = Timestamp::now();
  serving::TypesCache types;

 private:
  struct RowsLookedFor;

  void begin_rows(Asked asked, const Interested& interest, const Answered& answered, const Rows& of);
  void look_for(const std::shared_ptr<RowsLookedFor>& rows);

  LiveStats live_stats_;
  std::vector<serving::MethodMetrics*> methods_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> maintaining_{false};
  std::unique_ptr<cluster::WorkPool> maintenance_ = std::make_unique<cluster::WorkPool>(1);  ///< last: it ends first
};

}  // namespace evershard::http
