// Api: what is behind every route: a request that was admitted becomes an answer. No socket.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <variant>

#include "evershard/doors/http/guard.hpp"
#include "evershard/doors/http/http_options.hpp"
#include "evershard/doors/http/live_stats.hpp"
#include "evershard/doors/http/stream.hpp"
#include "evershard/doors/http/target.hpp"
#include "evershard/doors/serving/served.hpp"
#include "evershard/doors/serving/types_cache.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard::http {

/// Somebody who may go away: whoever works for him is told.
class Interest {
 public:
  [[nodiscard]] bool gone() const { return gone_.load(); }
  /// Called once; at once where he is gone already.
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

/// A stream is sent with status 200 as text/event-stream.
using Answer = std::variant<Response, std::shared_ptr<Stream>>;
/// Once, from any thread.
using Answered = std::function<void(Answer)>;

/// From any thread, but for what is said otherwise.
/// Source: docs/http-api.md.
class Api {
 public:
  Api(serving::Served served, const HttpOptions& options, Surroundings around, std::string address);

  /// From its header alone, so that nobody's body is read who may not ask, or has had his share. Cheap, waits for
  /// nothing. `address`: of the client, without its port.
  [[nodiscard]] tl::expected<Asked, Refusal> admit(const Request& head, std::string_view address) const;
  /// A body whose length its header did not say. Returns: why it is not taken.
  [[nodiscard]] std::optional<Refusal> over_limit(const std::string& client, std::uint64_t requests,
                                                  std::uint64_t bytes) const;
  /// One of the client's live streams, as long as it is held.
  [[nodiscard]] tl::expected<serving::ClientGate::Stream, Refusal> open_stream(const std::string& client) const;
  /// Answers always; what may wait for the disk runs in the pool. `interest` is kept as long as something works for it.
  void answer(Asked asked, std::shared_ptr<Interest> interest, Answered answered);
  /// OPTIONS.
  [[nodiscard]] Response options_of(const Request& request) const;

  void stop() { stopping_ = true; }
  /// Nothing that it works for is under way any more.
  void end_maintenance() { maintenance_.reset(); }
  [[nodiscard]] LiveStats& live_stats() { return live_stats_; }
  /// One for all who watch, in the pool.
  [[nodiscard]] Result<StatsSample> sample() const;
  /// `route`: one of routes().
  [[nodiscard]] serving::MethodMetrics& metrics_of(const Route& route) {
    return *methods_[static_cast<std::size_t>(&route - routes().data())];
  }
  /// Of what is refused before it is known what is asked, or by whom.
  [[nodiscard]] serving::MethodMetrics& metrics_of_no_route() { return served_.metrics->method("http", "none"); }
  [[nodiscard]] serving::Metrics& metrics() { return *served_.metrics; }

 private:
  using Handler = Result<Response> (Api::*)(const Asked&);
  using Interested = std::shared_ptr<Interest>;
  struct RowsLookedFor;

  // Each in the pool.
  Result<Response> metrics_text(const Asked& asked);
  Result<Response> open_session(const Asked& asked);
  Result<Response> info(const Asked& asked);
  Result<Response> stats(const Asked& asked);
  Result<Response> cluster(const Asked& asked);
  Result<Response> head(const Asked& asked);
  Result<Response> event(const Asked& asked);
  Result<Response> condition(const Asked& asked);
  Result<Response> aggregates(const Asked& asked);
  Result<Response> aggregate(const Asked& asked);
  Result<Response> aggregate_events(const Asked& asked);
  Result<Response> aggregate_state(const Asked& asked);
  Result<Response> aggregate_snapshots(const Asked& asked);
  Result<Response> groups(const Asked& asked);
  Result<Response> group(const Asked& asked);
  Result<Response> group_parked(const Asked& asked);
  Result<Response> projections(const Asked& asked);
  Result<Response> projection(const Asked& asked);
  Result<Response> index(const Asked& asked, std::chrono::milliseconds wait);
  Result<Response> values(const Asked& asked, std::chrono::milliseconds wait);
  Result<Response> tables(const Asked& asked);
  Result<Response> table(const Asked& asked);
  Result<Response> table_rows(const Asked& asked, std::chrono::milliseconds wait);
  Result<Response> table_parked(const Asked& asked);
  Result<Response> documents(const Asked& asked);
  Result<Response> document(const Asked& asked, std::chrono::milliseconds wait);
  Result<Response> retention_policies(const Asked& asked);
  Result<Response> retention_log(const Asked& asked);
  Result<Response> settings(const Asked& asked);
  Result<Response> flush(const Asked& asked);
  [[nodiscard]] static Handler handler_of(RouteId id);

  // At once.
  [[nodiscard]] Response health() const;
  [[nodiscard]] Response session(const Request& request) const;
  [[nodiscard]] Response close_session() const;
  [[nodiscard]] Response asset(const Request& request, std::string_view path) const;

  using Rows = Result<Response> (Api::*)(const Asked&, std::chrono::milliseconds);
  /// `read` is asked again while it answers `timeout`, without a thread that waits.
  /// As begin_rows, of a POST with the parameters of its body.
  void begin_rows_by_body(Asked asked, const Interested& interest, const Answered& answered, Rows read);
  void begin_rows(const Asked& asked, const Interested& interest, const Answered& answered, Rows read);
  void look_for(const std::shared_ptr<RowsLookedFor>& rows);
  /// In the pool, for somebody who may go: what is read for him ends then.
  void run_for(const Interested& interest, std::function<void()> work);
  void read_events(const Asked& asked, const Interested& interest, const Answered& answered);
  void append(const Asked& asked, const Interested& interest, const Answered& answered);
  void maintain(const Asked& asked, const Interested& interest, const Answered& answered);
  void live_events(const Asked& asked, const Answered& answered);

  [[nodiscard]] std::string session_json(const serving::Caller* caller) const;

  const serving::Served served_;
  const HttpOptions options_;
  const Surroundings around_;
  const std::string address_;
  const Timestamp started_at_ = Timestamp::now();
  serving::TypesCache types_;
  LiveStats live_stats_;
  std::vector<serving::MethodMetrics*> methods_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> maintaining_{false};
  std::unique_ptr<cluster::WorkPool> maintenance_ = std::make_unique<cluster::WorkPool>(1);  ///< last: it ends first
};

}  // namespace evershard::http
