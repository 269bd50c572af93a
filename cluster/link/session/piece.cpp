#include "evershard/cluster/link/session/piece.hpp"

#include <utility>

namespace evershard::cluster {
namespace {

Refused bad_piece(const std::string& why) {
  return refuse(ErrorCode::corruption, "what came from the peer breaks the protocol: " + why);
}

}  // namespace

void write_piece(std::string& body, FrameType lane, const Piece& piece) {
  ByteWriter out(body);
  out.number(static_cast<std::uint8_t>(piece.type));
  if (piece.type != PieceType::more) out.number(piece.number.value);
  if (piece.type == PieceType::first) {
    if (lane != FrameType::answers) out.number(piece.kind.value);
    if (lane == FrameType::requests) out.number(piece.time_ms);
    out.number(piece.total);
  }
  out.number(static_cast<std::uint32_t>(piece.bytes.size())).raw(piece.bytes);
}

Result<Piece> read_piece(ByteReader& in, FrameType lane) {
  Piece piece;
  const auto type = in.number<std::uint8_t>();
  if (type < 1 || type > 3 || (type == 3 && lane != FrameType::answers))
    return bad_piece("a piece of type " + std::to_string(type));
  piece.type = static_cast<PieceType>(type);
  if (piece.type != PieceType::more) piece.number = CallNumber(in.number<std::uint64_t>());
  if (piece.type == PieceType::first) {
    if (lane != FrameType::answers) piece.kind = MessageKind(in.number<std::uint16_t>());
    if (lane == FrameType::requests) piece.time_ms = in.number<std::uint32_t>();
    piece.total = in.number<std::uint32_t>();
  }
  piece.bytes = in.raw(in.number<std::uint32_t>());
  if (in.ran_short()) return bad_piece("a piece that ends early");
  return piece;
}

Result<std::optional<Whole>> Reassembly::add(const Piece& piece) {
  if (piece.type == PieceType::more) {
    if (!pending_) return bad_piece("the rest of a payload that never began");
    if (piece.bytes.empty()) return bad_piece("an empty rest");
  } else {
    if (pending_) return bad_piece("a payload that begins within another");
    // Answers come in the sequence in which they are ready; a request or message never twice.
    if (lane_ != FrameType::answers && piece.number <= last_)
      return bad_piece("number " + std::to_string(piece.number.value) + " behind " + std::to_string(last_.value));
    last_ = piece.number;
    total_ = piece.type == PieceType::first ? piece.total : static_cast<std::uint32_t>(piece.bytes.size());
    if (total_ > payload_bytes_max_)
      return bad_piece("a payload of " + std::to_string(total_) + " bytes, " + std::to_string(payload_bytes_max_) +
                       " allowed");
    whole_ = Whole{piece.number, piece.kind, piece.time_ms, piece.type == PieceType::refusal, {}};
  }
  if (piece.bytes.size() > total_ - whole_.bytes.size())
    return bad_piece("more bytes than the " + std::to_string(total_) + " announced");
  whole_.bytes.append(piece.bytes);
  pending_ = whole_.bytes.size() < total_;
  if (pending_) return std::nullopt;
  return std::exchange(whole_, {});
}

}  // namespace evershard::cluster
