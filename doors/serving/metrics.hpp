// Metrics: what the doors of one process count, and what Prometheus reads.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/actors/threads/long_reads.hpp"
#include "evershard/api/administration.hpp"
#include "evershard/api/cluster_administration.hpp"
#include "evershard/api/processes.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/protocol/latencies.hpp"

namespace evershard::serving {

/// One method of one door: a route or an RPC. From any thread; lives as long as the Metrics it is of.
class MethodMetrics {
 public:
  virtual ~MethodMetrics() = default;
  /// `refused`: absent where it was answered as asked.
  virtual void answered(std::chrono::nanoseconds took, std::optional<ErrorCode> refused) = 0;
};

/// Since the start, all doors together.
struct DoorFigures {
  std::uint64_t appends = 0;
  std::uint64_t events = 0;   ///< appended
  std::uint64_t refused = 0;  ///< requests of any kind that were answered with an error
  std::uint64_t reads = 0;    ///< events that were given to readers
  std::int64_t connections = 0;
  std::int64_t streams = 0;
  Latencies append_latencies{};
};

/// From any thread.
/// Source: docs/metrics.md: every name with its meaning.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;

  /// `door`: http, grpc. `method`: one of a fixed set, never what a client made up. The same again gives the same
  /// object; keep it, finding it costs more than counting.
  [[nodiscard]] MethodMetrics& method(std::string_view door, std::string_view method);
  /// An append of `events` events that was acknowledged, from the request's last byte to its answer.
  void appended(std::string_view door, std::chrono::nanoseconds took, std::size_t events);
  void events_read(std::string_view door, std::size_t events);
  /// +1 when one is accepted, -1 when it is gone.
  void connections(std::string_view door, int change);
  /// Instead, of a door that is not told when they come and go: asked whenever figures are. Empty: it has none any
  /// more.
  void connections_from(std::string_view door, std::function<std::int64_t()> count);
  /// Connections that were turned away before they could ask: too many, no TLS, too slow, garbage.
  void connection_refused(std::string_view door, std::string_view why);
  /// Requests and streams that were refused because their client has had its share. `limit`: requests, bytes, streams,
  /// memory.
  void client_refused(std::string_view door, std::string_view limit);
  /// Live streams that are open.
  void streams(std::string_view door, int change);

  [[nodiscard]] DoorFigures figures() const;
  /// All of it, and figures of the store, of its long reads, of the cluster and of processes as they are now, in
  /// Prometheus' text format, version 0.0.4. `cluster`: absent where the store is one process. `processes`: absent
  /// where they are not shown; left out where they cannot be read now. Errors: of Administration::stats()
  [[nodiscard]] Result<std::string> text(const Administration& administration, const cluster::LongReads& long_reads,
                                         ClusterOrders* cluster = nullptr, Processes* processes = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::serving
