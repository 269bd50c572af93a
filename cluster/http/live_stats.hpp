// LiveStats: the figures of a moment, with rates and percentiles since the moment before, for all who watch.

#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "evershard/cluster/http/stream.hpp"
#include "evershard/cluster/serving/metrics.hpp"
#include "evershard/cluster/store/administration.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard::http {

/// What is read at once.
struct StatsSample {
  Timestamp at;
  StoreStats store;
  serving::DoorFigures doors;
};

/// One object: counts since the start, `rates` a second since `before`, percentiles of what came since then, null where nothing did.
/// Source: docs/http-api.md, "Live figures"
[[nodiscard]] std::string live_stats_json(const StatsSample& now, const std::optional<StatsSample>& before);

/// Everybody who watches is given the same samples; nobody watching: none are taken. Any thread.
class LiveStats {
 public:
  /// The next sample behind `seen`, at once where there is a fresh one.
  void wait(std::uint64_t seen, std::weak_ptr<Stream> who, std::function<void(std::uint64_t number, std::string json)> tell);
  [[nodiscard]] bool wanted();
  void add(StatsSample sample);
  /// What nobody can wait for any more.
  void forget(const Stream* who);

 private:
  struct Waiting {
    std::weak_ptr<Stream> who;
    const Stream* key;
    std::function<void(std::uint64_t, std::string)> tell;
  };
  std::mutex mutex_;
  std::uint64_t number_ = 0;
  std::string json_;
  std::chrono::steady_clock::time_point taken_{};
  std::optional<StatsSample> before_;
  std::vector<Waiting> waiting_;
};

class StatsStream final : public Stream, public std::enable_shared_from_this<StatsStream> {
 public:
  explicit StatsStream(LiveStats& stats) : stats_(stats) {}
  void next(Done done) override;
  void cancel() override { stats_.forget(this); }

 private:
  LiveStats& stats_;
  std::uint64_t seen_ = 0;
};

}  // namespace evershard::http
