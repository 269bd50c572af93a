// AnswerQueue: requests of a peer that are open here, and their answers on the way out. Of one session.

#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>

#include "evershard/cluster/link/session/call_queue.hpp"

namespace evershard::cluster {

class AnswerQueue {
 public:
  /// `payload_bytes_max`: what the peer takes
  AnswerQueue(const LinkLimits& limits, std::uint32_t payload_bytes_max)
      : limits_(limits), payload_bytes_max_(std::min(limits.payload_bytes_max, payload_bytes_max)) {}

  /// A request of so many bytes begins to arrive. Errors: corruption: the peer has used up its credit, and knows it
  [[nodiscard]] Result<void> open(CallNumber number, std::uint64_t bytes);
  /// Nothing happens to what is not open: it was answered before.
  void answer(CallNumber number, Result<std::string> outcome);
  /// Returns: whether anything was written
  bool write(std::string& body, FrameRoom room);

  [[nodiscard]] std::size_t open_requests() const { return open_.size(); }
  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_bytes_; }

 private:
  struct Waiting {
    CallNumber number{};
    bool refusal = false;
    std::string bytes;
    std::size_t sent = 0;
    bool begun = false;
  };

  const LinkLimits limits_;
  const std::uint32_t payload_bytes_max_;
  std::unordered_map<CallNumber, std::uint64_t> open_;  ///< to bytes
  std::uint64_t open_bytes_ = 0;
  std::deque<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace evershard::cluster
