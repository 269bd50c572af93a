// Piece: a payload, or a part of one, within a frame; and payloads put together again.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/cluster/link/session/bytes.hpp"
#include "evershard/cluster/link/session/frame.hpp"

namespace evershard::cluster {

enum class PieceType : std::uint8_t {
  first = 1,    ///< of a payload, or all of it
  more = 2,     ///< behind the piece before it in the same lane
  refusal = 3,  ///< an answer that is an error: its bytes are a protocol Error
};

/// A lane is a frame type: requests, answers and messages do not wait for each other.
struct Piece {
  PieceType type{};
  CallNumber number{};        ///< not of `more`
  MessageKind kind{};         ///< first of a request, of a message
  std::uint32_t time_ms = 0;  ///< first of a request: what is left of its time
  std::uint32_t total = 0;    ///< first: bytes of the whole payload
  std::string_view bytes;
};

/// What a piece adds to its bytes, at most.
inline constexpr std::size_t piece_extra_bytes_max = 23;

void write_piece(std::string& body, FrameType lane, const Piece& piece);
/// Errors: corruption: what the sender of a frame with a right checksum should not have written
[[nodiscard]] Result<Piece> read_piece(ByteReader& in, FrameType lane);

/// A payload that arrived whole.
struct Whole {
  CallNumber number{};
  MessageKind kind{};
  std::uint32_t time_ms = 0;
  bool refusal = false;
  std::string bytes;
};

/// One lane's payloads, in sequence; at most one of them is incomplete.
class Reassembly {
 public:
  Reassembly(FrameType lane, std::uint32_t payload_bytes_max) : lane_(lane), payload_bytes_max_(payload_bytes_max) {}

  /// Returns: a payload, when this piece was its last
  /// Errors:  corruption: a piece that does not join on, numbers that do not ascend, more bytes than announced or
  /// allowed
  [[nodiscard]] Result<std::optional<Whole>> add(const Piece& piece);
  /// Bytes that were announced and are not whole yet.
  [[nodiscard]] std::uint32_t pending() const { return pending_ ? total_ : 0; }

 private:
  const FrameType lane_;
  const std::uint32_t payload_bytes_max_;
  CallNumber last_{};
  bool pending_ = false;
  std::uint32_t total_ = 0;
  Whole whole_;
};

}  // namespace evershard::cluster
