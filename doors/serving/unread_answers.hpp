// UnreadAnswers: what answers hold that clients have not taken yet, and whose are given up when that is too much.

#pragma once

#include <chrono>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace evershard::serving {

struct UnreadAnswersOptions {
  std::size_t bytes_max = 256u << 20;  ///< of all calls together
  std::chrono::milliseconds patience =
      std::chrono::seconds(10);  ///< a client that has taken nothing for so long may be given up
};

/// A client that reads slowly keeps its page in the server's memory until it takes it. Within the bound nobody minds.
/// Beyond it others wait for room, and the clients that have taken nothing for the longest time are given up. A plain
/// class: whoever owns it locks.
class UnreadAnswers {
 public:
  using Clock = std::chrono::steady_clock;
  using Call = const void*;  ///< only compared

  explicit UnreadAnswers(UnreadAnswersOptions options = {}) : options_(options) {}

  /// Its next answer is on its way. One at a time of each call.
  void sends(Call call, std::size_t bytes, Clock::time_point now);
  /// The client took it, or the call is over. A call that sends nothing: nothing happens.
  void took(Call call);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Another answer may be made. It may go beyond the bound by its own size.
  [[nodiscard]] bool has_room() const { return bytes_ < options_.bytes_max; }
  /// Answers may also be made before they can be sent.
  [[nodiscard]] bool has_room_ahead() const { return bytes_ < options_.bytes_max / 2; }

  /// The calls to give up so that there is room, those that have taken nothing for the longest time first; none where
  /// there is room. Each call is named once.
  [[nodiscard]] std::vector<Call> to_give_up(Clock::time_point now);

 private:
  struct Sending {
    std::size_t bytes = 0;
    Clock::time_point since{};
    bool given_up = false;
  };

  const UnreadAnswersOptions options_;
  std::unordered_map<Call, Sending> sending_{};
  std::size_t bytes_ = 0;
};

}  // namespace evershard::serving
