// HomeConsumer: a consumer at another node's door, as its subscription has it: what it is given waits until it is asked
// for.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/compat/kurrent/home_calls.hpp"
#include "evershard/doors/serving/homes.hpp"

namespace evershard::kurrent {

/// Bounded by the consumer's slots. Any thread.
class HomeConsumer final : public PersistentConsumer {
 public:
  using Clock = std::chrono::steady_clock;
  /// `rewritten`: Served::rewritten, of the home.
  HomeConsumer(Clock::time_point now, std::function<std::uint64_t()> rewritten)
      : rewritten_(std::move(rewritten)), heard_(now) {}

  void joined() override {}
  void give(esps::ReadResp event, std::uint64_t read_at) override;
  void drop(const Dropped& how) override;

  /// Its session. Once, before the first event.
  void has(std::shared_ptr<PersistentSession> session);
  /// Answered at once, or as soon as there is something. One that still waits is answered with nothing.
  void take(Clock::time_point now, serving::Homes::Done done);
  void settle(Clock::time_point now, const homes::Settle& settled);
  /// Answers what has waited for long. Returns: its node has not asked for too long: it has gone.
  [[nodiscard]] bool look(Clock::time_point now);
  /// It has gone, or everybody has to.
  void leave();

 private:
  /// What there is. Under the mutex.
  [[nodiscard]] homes::Taken taken();
  void answer();

  std::mutex mutex_;
  std::shared_ptr<PersistentSession> session_;
  struct Waiting {
    esps::ReadResp event;
    std::uint64_t read_at = 0;
  };
  const std::function<std::uint64_t()> rewritten_;
  std::deque<Waiting> waiting_;
  std::optional<Dropped> ended_;
  serving::Homes::Done asked_;
  Clock::time_point asked_at_{};
  Clock::time_point heard_;
};

}  // namespace evershard::kurrent
