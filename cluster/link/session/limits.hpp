// LinkLimits: what is bounded on a link, and the times that hold on it.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// Of one peer, unless it says otherwise.
struct LinkLimits {
  // What may wait here.
  std::size_t queue_calls_max = 20'000;  ///< requests and messages not sent yet; more: `overloaded` at once
  std::size_t queue_bytes_max = 64u << 20;
  std::chrono::milliseconds queue_time_max{2'000};  ///< then `overloaded`, or `unavailable` without a session

  // What a peer may have here. The greeting tells the peer these limits. A peer that exceeds them is cut off.
  std::uint32_t requests_max = 4'096;           ///< not answered yet
  std::uint64_t request_bytes_max = 64u << 20;  ///< of those
  std::uint64_t message_bytes_max = 64u << 20;  ///< of messages not done with yet; each counts message_bytes_extra more
  std::uint32_t payload_bytes_max = 32u << 20;  ///< of one request, answer or message
  std::size_t answer_bytes_max =
      256u << 20;  ///< answers that a peer is slow to take; more: they are lost, and their callers told `timeout`

  // What goes out.
  std::size_t frame_bytes_max = 1u << 20;
  std::size_t frame_items_max = 256;
  std::size_t unsent_bytes_max = 2u << 20;  ///< in buffers below the link; more only when those are written

  // Times.
  std::chrono::milliseconds heartbeat{500};     ///< the longest that a side is silent
  std::chrono::milliseconds dead_after{2'000};  ///< silent for so long: gone
  std::chrono::milliseconds greeting_time_max{1'000};
  std::chrono::milliseconds dial_time_max{500};
  std::chrono::milliseconds redial_min{50};
  std::chrono::milliseconds redial_max{2'000};
  std::chrono::milliseconds search_max{200};  ///< instead, of a peer that may be in one of several places
};

/// What a message costs of message_bytes_max beside its bytes, so that empty ones are bounded too.
inline constexpr std::uint64_t message_bytes_extra = 64;
/// What a frame is at most, of whatever peer: nobody is given memory for more.
inline constexpr std::size_t frame_bytes_limit = 4u << 20;

/// Errors: invalid_argument: naming the limit
[[nodiscard]] Result<void> check(const LinkLimits& limits);

}  // namespace evershard::cluster
