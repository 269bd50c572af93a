#include "evershard/cluster/link/session/link_session.hpp"

#include <array>
#include <utility>

#include "evershard/protocol/codec.hpp"

namespace evershard::cluster {
namespace {

constexpr std::array lanes{FrameType::messages, FrameType::answers, FrameType::requests};

Refused breaks_protocol(const std::string& why) {
  return refuse(ErrorCode::corruption, "what came from the peer breaks the protocol: " + why);
}

}  // namespace

LinkSession::LinkSession(const LinkAgreement& agreement, const LinkLimits& limits, CallQueue& calls, LinkTime now)
    : agreement_(agreement),
      limits_(limits),
      calls_(calls),
      answers_(limits, agreement.credit.payload_bytes_max),
      liveness_(agreement.heartbeat, limits.dead_after, now),
      requests_in_(FrameType::requests, limits.payload_bytes_max),
      answers_in_(FrameType::answers, limits.payload_bytes_max),
      messages_in_(FrameType::messages, limits.payload_bytes_max) {
  calls_.begin(agreement.credit);
}

Result<void> LinkSession::received(std::string_view bytes, LinkTime now) {
  reader_.feed(bytes);
  while (true) {
    const auto frame = reader_.next();
    if (!frame) return refuse(frame.error());
    if (!*frame) return {};
    EVERSHARD_TRY(take_frame(**frame, now));
  }
}

Result<void> LinkSession::take_frame(const Frame& frame, LinkTime now) {
  if (frame.session != agreement_.session) {
    ++stale_frames_;
    return {};
  }
  if (frame.sequence != received_frames_ + 1)
    return breaks_protocol("frame " + std::to_string(frame.sequence) + " behind frame " +
                           std::to_string(received_frames_));
  ++received_frames_;
  liveness_.heard(now);
  ByteReader in(frame.body);
  if (frame.type == FrameType::goodbye) {
    auto why = codec::decode<Error>(frame.body);
    if (!why) return breaks_protocol("a goodbye without a reason");
    return refuse(why->code, "the peer ended the session: " + why->what);
  }
  const auto released = in.number<std::uint64_t>();
  if (in.ran_short()) return breaks_protocol("a frame that ends early");
  EVERSHARD_TRY(calls_.released(released));
  if (frame.type == FrameType::heartbeat)
    return in.left() == 0 ? Result<void>() : Result<void>(breaks_protocol("a heartbeat with more in it"));
  return take_pieces(frame, in, now);
}

Result<void> LinkSession::take_pieces(const Frame& frame, ByteReader& in, LinkTime now) {
  auto& lane = frame.type == FrameType::requests  ? requests_in_
               : frame.type == FrameType::answers ? answers_in_
                                                  : messages_in_;
  while (in.left() > 0) {
    const auto piece = read_piece(in, frame.type);
    if (!piece) return refuse(piece.error());
    if (piece->type == PieceType::first && frame.type == FrameType::requests)
      EVERSHARD_TRY(answers_.open(piece->number, piece->total));
    if (piece->type == PieceType::first && frame.type == FrameType::messages) {
      message_bytes_in_ += piece->total + message_bytes_extra;
      if (message_bytes_in_ - done_bytes_ > limits_.message_bytes_max)
        return breaks_protocol("more messages than it was granted");
    }
    auto whole = lane.add(*piece);
    if (!whole) return refuse(whole.error());
    if (*whole) EVERSHARD_TRY(arrived(frame.type, *std::move(*whole), now));
  }
  return {};
}

Result<void> LinkSession::arrived(FrameType lane, Whole whole, LinkTime now) {
  if (lane == FrameType::requests) {
    requests_.push_back({agreement_.session, whole.number, whole.kind, now + std::chrono::milliseconds(whole.time_ms),
                         std::move(whole.bytes)});
    return {};
  }
  if (lane == FrameType::messages) {
    const auto cost = whole.bytes.size() + message_bytes_extra;
    messages_.push_back({agreement_.session, whole.kind, cost, std::move(whole.bytes)});
    return {};
  }
  if (!whole.refusal) return calls_.answered(whole.number, std::move(whole.bytes));
  auto error = codec::decode<Error>(whole.bytes);
  if (!error) return breaks_protocol("a refusal that is no error");
  return calls_.answered(whole.number, refuse(*std::move(error)));
}

Result<void> LinkSession::check_alive(LinkTime now) {
  if (!liveness_.is_dead(now)) return {};
  return refuse(ErrorCode::unavailable,
                "nothing was heard of it for " + std::to_string(in_ms(liveness_.silence(now)).count()) + " ms");
}

void LinkSession::write(std::string& out, std::size_t bytes_max, LinkTime now) {
  for (std::size_t idle = 0; idle < lanes.size() && out.size() < bytes_max;) {
    const bool wrote = write_frame(out, lanes[turn_++ % lanes.size()], now);
    idle = wrote ? 0 : idle + 1;
  }
  // Room for messages is told when a quarter of it came free; less can wait for the next frame.
  if (liveness_.must_speak(now) || done_bytes_ - done_bytes_told_ >= limits_.message_bytes_max / 4)
    write_frame(out, FrameType::heartbeat, now);
}

bool LinkSession::write_frame(std::string& out, FrameType type, LinkTime now) {
  FrameWriter frame(out);
  ByteWriter(out).number(done_bytes_);
  const FrameRoom room{limits_.frame_bytes_max - frame_header_bytes - sizeof done_bytes_, limits_.frame_items_max};
  const bool wrote = type == FrameType::heartbeat  ? true
                     : type == FrameType::answers  ? answers_.write(out, room)
                     : type == FrameType::requests ? calls_.write_requests(out, room, now)
                                                   : calls_.write_messages(out, room);
  if (!wrote) {
    frame.drop();
    return false;
  }
  frame.finish(agreement_.session, ++sent_frames_, type);
  done_bytes_told_ = done_bytes_;
  liveness_.sent(now);
  return true;
}

void LinkSession::write_goodbye(std::string& out, const Error& why) {
  FrameWriter frame(out);
  ByteWriter(out).raw(codec::encode(why));
  frame.finish(agreement_.session, ++sent_frames_, FrameType::goodbye);
}

std::vector<ArrivedRequest> LinkSession::take_requests() { return std::exchange(requests_, {}); }
std::vector<ArrivedMessage> LinkSession::take_messages() { return std::exchange(messages_, {}); }

}  // namespace evershard::cluster
