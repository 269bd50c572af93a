// CopyWindow: appends into the target, many in flight, each aggregate's in their order.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "evershard/api/event_store.hpp"
#include "evershard/services/copy/copied_appends.hpp"

namespace evershard::cluster {

/// Each append in flight expects the version that the one before it leaves: where one is refused, those behind it of
/// the same aggregate are too, instead of standing in front of it. Then what is under way is waited for, and what was
/// refused is sent again, one after the other. What is known already is fine. One thread.
class CopyWindow {
 public:
  struct Bounds {
    std::size_t appends = 256;  ///< 1: one after the other, also over aggregates
    std::size_t bytes = 16u << 20;
  };
  /// Asked when the target cannot just now (`tries` so far); waits. False: give up, and that error is the answer.
  using Patience = std::function<bool(const Error& error, std::size_t tries)>;

  CopyWindow(EventStore& target, Bounds bounds, Patience patience);
  /// Waits for what is under way.
  ~CopyWindow();
  CopyWindow(const CopyWindow&) = delete;
  CopyWindow& operator=(const CopyWindow&) = delete;

  /// Waits while it is full. Errors: of any append so far, once and for all: duplicate_event: an event with this id and
  /// another content, or in another company, is there; those of append
  [[nodiscard]] Result<void> send(CopiedAppend append);
  /// Waits until everything sent is stored.
  [[nodiscard]] Result<void> drain();

  /// Everything sent that stood in the source up to here is stored.
  [[nodiscard]] GlobalPosition stored() const { return stored_; }
  /// The target's position that goes with it, at least.
  [[nodiscard]] GlobalPosition target_position() const { return target_position_; }
  [[nodiscard]] std::uint64_t events_new() const { return events_new_; }
  [[nodiscard]] std::uint64_t events_known() const { return events_known_; }

 private:
  struct Slot {
    CopiedAppend append;
    std::size_t bytes = 0;
    std::optional<Result<Appended>> result;
  };
  struct Shared {  ///< outlives the window: an answer may come late
    std::mutex mutex;
    std::condition_variable changed;
  };

  Result<void> expect_versions(const CopiedAppend& from, Append& append);
  /// Takes the answers that are there, in order; waits until at most so much is in flight.
  Result<void> settle(std::size_t appends_max, std::size_t bytes_max);
  Result<void> send_refused_again();
  Result<void> send_again(Slot& slot);
  void count(const CopiedAppend& append, const Appended& answer);

  EventStore& target_;
  const Bounds bounds_;
  const Patience patience_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::deque<std::shared_ptr<Slot>> slots_;
  std::size_t bytes_ = 0;
  std::unordered_map<AggregateId, std::uint64_t> versions_;  ///< that what is in flight leaves
  std::optional<Error> failed_;
  GlobalPosition stored_{};
  GlobalPosition target_position_{};
  std::uint64_t events_new_ = 0;
  std::uint64_t events_known_ = 0;
};

}  // namespace evershard::cluster
