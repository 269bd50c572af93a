// SessionBounds: what one HTTP/2 connection may ask of a server.

#pragma once

#include <cstddef>
#include <cstdint>

#include "evershard/doors/http2/pace.hpp"

namespace evershard::http2 {

struct SessionBounds {
  std::uint32_t streams = 1'000;          ///< open at once; the client is told
  std::size_t header_bytes = 16u << 10;   ///< of one request, as RFC 9113, 6.5.2 counts them; the client is told
  std::uint32_t window = 1u << 20;        ///< bytes of one stream's body that were not consumed
  std::uint32_t windows = 4u << 20;       ///< the same of all streams
  std::uint32_t frame_bytes = 64u << 10;  ///< of a frame of ours, where the client takes as much
  /// Streams that the client gives up before a byte of their answer went out.
  PaceBound given_up{1'000, 200};
  /// Frames that ask for nothing but to be looked at: PING, SETTINGS, PRIORITY, RST_STREAM, unknown ones, and DATA
  /// without data. A client that measures its line sends some thousand PINGs a second.
  PaceBound idle_frames{10'000, 10'000};
};

}  // namespace evershard::http2
