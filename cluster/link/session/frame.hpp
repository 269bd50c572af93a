// Frame: what travels between two processes once they agreed, and how it is found again in a stream of bytes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/cluster/link/session/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

enum class FrameType : std::uint8_t { heartbeat = 1, requests = 2, answers = 3, messages = 4, goodbye = 5 };

struct Frame {
  SessionNumber session{};
  std::uint32_t sequence = 0;  ///< from 1 in each direction; one more with each frame
  FrameType type{};
  std::string_view body;  ///< until the reader is fed again
};

inline constexpr std::size_t frame_header_bytes = 24;

/// Writes a frame in place: the body goes behind what the constructor appended, finish() completes the header.
class FrameWriter {
 public:
  explicit FrameWriter(std::string& out);
  /// Bytes of body so far.
  [[nodiscard]] std::size_t body_bytes() const;
  void finish(SessionNumber session, std::uint32_t sequence, FrameType type);
  /// Takes away what was begun.
  void drop();

 private:
  std::string& out_;
  const std::size_t start_;
};

/// Shape:  u32 bytes of body | u32 checksum of what follows | u64 session | u32 sequence | u8 type | 3 times 0 | body
/// Source: docs/internals/link.md
class FrameReader {
 public:
  /// Bytes as they come.
  void feed(std::string_view bytes) { buffer_.append(bytes); }

  /// The next whole frame. Its body lies in the reader, until the next call of either function.
  ///
  /// Returns: nothing: more bytes are needed
  /// Errors:  corruption: too long, a checksum that is wrong, an unknown type. No frame can be found behind a damaged
  ///          one.
  [[nodiscard]] Result<std::optional<Frame>> next();

  [[nodiscard]] std::size_t buffered() const { return buffer_.size() - taken_; }

 private:
  void let_go();

  std::string buffer_;
  std::size_t taken_ = 0;
};

}  // namespace evershard::cluster
