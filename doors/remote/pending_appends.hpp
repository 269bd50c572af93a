// PendingAppends: which appends were sent, which were answered, and what goes out again when the stream breaks.
// Decisions only.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/doors/remote/write_outcome.hpp"

namespace evershard::remote {

/// Answers come in the order of sending. One whose time is up is answered, and keeps its place: the server's answer to
/// it still comes. When a stream breaks, whatever waits goes out again on the next one, in the same order; what nobody
/// waits for any more does not.
class PendingAppends {
 public:
  using Clock = std::chrono::steady_clock;

  struct Bounds {
    std::size_t appends;
    std::size_t bytes;
  };
  /// To be called outside of every lock.
  struct Ended {
    AppendCompletion done;
    Result<Appended> result;
  };

  explicit PendingAppends(Bounds bounds) : bounds_(bounds) {}

  /// Shape:  `deadline` never goes back from one to the next.
  /// Errors: overloaded
  [[nodiscard]] Result<void> add(std::string request, Clock::time_point deadline, AppendCompletion& done);
  /// The next one to send, which counts as sent from now on; stays where it is until it is answered. Nothing: all were
  /// sent.
  [[nodiscard]] const std::string* next_to_send();
  [[nodiscard]] bool none_sent() const { return sent_ == 0; }
  [[nodiscard]] bool has_unsent() const { return sent_ < pending_.size(); }
  /// The oldest one that was sent. Nothing: nobody waits for it any more, or nothing was sent.
  [[nodiscard]] std::optional<Ended> answered(Result<Appended> result);
  // `reached`: this stream has come to a server, so a byte of what was sent on it may have arrived.

  /// Those whose time is up: `timeout` where it may have arrived, `unavailable` where it cannot.
  [[nodiscard]] std::vector<Ended> expired(Clock::time_point now, bool reached, const std::string& why);
  /// The stream broke: nothing counts as sent on it.
  void broken(bool reached);
  /// gRPC ends a stream as a whole for one message that a server does not take: of what was sent on it, the largest is
  /// one. The others go out again. Nothing: nobody waits for it any more, or nothing was sent.
  [[nodiscard]] std::optional<Ended> refuse_largest(const Error& too_large);
  /// Everything; `last`: what is wrong, `told` by a server. As WriteOutcome says: `timeout` where it may have arrived.
  [[nodiscard]] std::vector<Ended> all(bool reached, const Error& last, bool told);

  /// Nobody waits.
  [[nodiscard]] bool idle() const { return waiting_ == 0; }
  [[nodiscard]] std::optional<Clock::time_point> next_deadline() const;

 private:
  struct Pending {
    std::string request;
    Clock::time_point deadline;
    AppendCompletion done;   ///< empty: answered, its time was up
    WriteOutcome outcome{};  ///< of earlier streams
  };

  /// Those from the front that are sent on this stream.
  void note_arrived(bool reached);

  const Bounds bounds_;
  std::deque<Pending> pending_;
  std::size_t sent_ = 0;  ///< how many, from the front, on this stream
  std::size_t bytes_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace evershard::remote
