// LiveStats: the figures of a moment, with rates and percentiles since the moment before, for all who watch; and of the
// minutes before.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/administration.hpp"
#include "evershard/doors/http/stream.hpp"
#include "evershard/doors/serving/metrics.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard::http {

/// What is read at once.
struct StatsSample {
  Timestamp at;
  StoreStats store;
  serving::DoorFigures doors;
};

/// One object: counts since the start, `rates` a second since `before`, percentiles of what came since then, null where
/// nothing did. Source: docs/http-api.md, "Live figures"
[[nodiscard]] std::string live_stats_json(const StatsSample& now, const std::optional<StatsSample>& before);

/// Everybody who watches is given the same samples, first those that are kept: whoever has just come sees how it went.
/// Any thread.
class LiveStats {
 public:
  static constexpr std::size_t samples_max = 600;       ///< ten minutes, at one a second
  static constexpr std::size_t piece_samples_max = 60;  ///< given at once: about 40 KiB
  /// `number` of the last one, and server-sent events.
  using Tell = std::function<void(std::uint64_t number, std::string events)>;

  /// The next samples behind `seen`, at once where there are any.
  void wait(std::uint64_t seen, std::weak_ptr<Stream> who, Tell tell);
  void add(StatsSample sample);
  /// What nobody can wait for any more.
  void forget(const Stream* who);

 private:
  struct Waiting {
    std::weak_ptr<Stream> who;
    const Stream* key;
    Tell tell;
  };
  std::mutex mutex_;
  std::uint64_t number_ = 0;
  std::deque<std::string> past_;  ///< the last of them is `number_`
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
