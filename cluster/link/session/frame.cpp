#define XXH_INLINE_ALL
#include "evershard/cluster/link/session/frame.hpp"

#include <xxhash.h>

#include "evershard/cluster/link/session/bytes.hpp"
#include "evershard/cluster/link/session/limits.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t checked_from = 8;  // behind length and checksum

std::uint32_t frame_checksum(std::string_view checked, std::uint32_t length) {
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(checked.data(), checked.size(), length));
}

void put_number(std::string& out, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) out[at + i] = static_cast<char>(value >> (8 * i));
}

Refused bad_frame(const std::string& why) {
  return refuse(ErrorCode::corruption, "what came from the peer is no frame: " + why);
}

}  // namespace

FrameWriter::FrameWriter(std::string& out) : out_(out), start_(out.size()) { out_.append(frame_header_bytes, '\0'); }

std::size_t FrameWriter::body_bytes() const { return out_.size() - start_ - frame_header_bytes; }

void FrameWriter::finish(SessionNumber session, std::uint32_t sequence, FrameType type) {
  const auto length = static_cast<std::uint32_t>(body_bytes());
  std::string header;
  ByteWriter(header)
      .number(length)
      .number(std::uint32_t{0})
      .number(session.value)
      .number(sequence)
      .number(static_cast<std::uint8_t>(type));
  out_.replace(start_, header.size(), header);
  put_number(out_, start_ + 4, frame_checksum(std::string_view(out_).substr(start_ + checked_from), length));
}

void FrameWriter::drop() { out_.resize(start_); }

Result<std::optional<Frame>> FrameReader::next() {
  const auto rest = std::string_view(buffer_).substr(taken_);
  if (rest.size() < frame_header_bytes) {
    let_go();
    return std::nullopt;
  }
  ByteReader in(rest);
  const auto length = in.number<std::uint32_t>();
  if (length > frame_bytes_limit) return bad_frame(std::to_string(length) + " bytes long");
  const auto checksum = in.number<std::uint32_t>();
  if (rest.size() < frame_header_bytes + length) {
    let_go();
    return std::nullopt;
  }
  if (frame_checksum(rest.substr(checked_from, frame_header_bytes - checked_from + length), length) != checksum)
    return bad_frame("its checksum is wrong");
  Frame frame;
  frame.session = SessionNumber(in.number<std::uint64_t>());
  frame.sequence = in.number<std::uint32_t>();
  const auto type = in.number<std::uint8_t>();
  if (type < 1 || type > 5) return bad_frame("of type " + std::to_string(type));
  frame.type = static_cast<FrameType>(type);
  // Not used yet.
  (void)in.raw(3);
  frame.body = in.raw(length);
  taken_ += frame_header_bytes + length;
  return frame;
}

// What was read goes when no frame refers to it any more; a large buffer is not kept for small frames.
void FrameReader::let_go() {
  if (taken_ == 0) return;
  buffer_.erase(0, taken_);
  taken_ = 0;
  if (buffer_.capacity() > frame_bytes_limit && buffer_.size() < buffer_.capacity() / 4) buffer_.shrink_to_fit();
}

}  // namespace evershard::cluster
