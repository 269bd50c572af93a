// LinkSession: one connection between two processes that agreed to speak, from its first frame to its end.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/cluster/link/session/answer_queue.hpp"
#include "evershard/cluster/link/session/call_queue.hpp"
#include "evershard/cluster/link/session/frame.hpp"
#include "evershard/cluster/link/session/hello.hpp"
#include "evershard/cluster/link/session/liveness.hpp"
#include "evershard/cluster/link/session/piece.hpp"

namespace evershard::cluster {

struct ArrivedRequest {
  SessionNumber session{};
  CallNumber number{};
  MessageKind kind{};
  LinkTime deadline{};  ///< after which the peer's caller does not listen any more
  std::string bytes;
};

/// `cost`: what must be given back by release() when it is done with.
struct ArrivedMessage {
  SessionNumber session{};
  MessageKind kind{};
  std::uint64_t cost = 0;
  std::string bytes;
};

/// Bytes in, bytes out; no socket, no thread, no clock. After an error from received() or is_dead() there is nothing
/// but its end.
class LinkSession {
 public:
  /// `calls`: of the same peer; it outlives the session.
  LinkSession(const LinkAgreement& agreement, const LinkLimits& limits, CallQueue& calls, LinkTime now);

  /// Bytes as they came from the peer.
  ///
  /// Errors: corruption: no frames, a frame missing or doubled, credit overdrawn, an answer to nothing;
  ///         others:     the peer said goodbye, with this
  [[nodiscard]] Result<void> received(std::string_view bytes, LinkTime now);

  /// Errors: unavailable: nothing was heard for as long as LinkLimits::dead_after
  [[nodiscard]] Result<void> check_alive(LinkTime now);

  /// Appends whole frames to `out`, until it holds `bytes_max` or there is nothing to say.
  void write(std::string& out, std::size_t bytes_max, LinkTime now);
  /// The last frame: why this side ends the session.
  void write_goodbye(std::string& out, const Error& why);

  void answer(CallNumber number, Result<std::string> outcome) { answers_.answer(number, std::move(outcome)); }
  /// Of a message that arrived.
  void release(std::uint64_t cost) { done_bytes_ += cost; }

  [[nodiscard]] std::vector<ArrivedRequest> take_requests();
  [[nodiscard]] std::vector<ArrivedMessage> take_messages();

  [[nodiscard]] SessionNumber number() const { return agreement_.session; }
  [[nodiscard]] const LinkAgreement& agreement() const { return agreement_; }
  [[nodiscard]] std::size_t open_requests() const { return answers_.open_requests(); }
  [[nodiscard]] std::size_t answer_bytes() const { return answers_.waiting_bytes(); }
  [[nodiscard]] LinkTime::duration silence(LinkTime now) const { return liveness_.silence(now); }
  /// Frames of other sessions that were dropped.
  [[nodiscard]] std::uint64_t stale_frames() const { return stale_frames_; }

 private:
  Result<void> take_frame(const Frame& frame, LinkTime now);
  Result<void> take_pieces(const Frame& frame, ByteReader& in, LinkTime now);
  Result<void> arrived(FrameType lane, Whole whole, LinkTime now);
  bool write_frame(std::string& out, FrameType type, LinkTime now);

  const LinkAgreement agreement_;
  const LinkLimits limits_;
  CallQueue& calls_;
  AnswerQueue answers_;
  Liveness liveness_;
  FrameReader reader_;
  Reassembly requests_in_;
  Reassembly answers_in_;
  Reassembly messages_in_;
  std::uint32_t sent_frames_ = 0;
  std::uint32_t received_frames_ = 0;
  std::size_t turn_ = 0;                ///< which lane writes next
  std::uint64_t message_bytes_in_ = 0;  ///< announced by messages since the session began, with their extra
  std::uint64_t done_bytes_ = 0;        ///< of those, done with
  std::uint64_t done_bytes_told_ = 0;
  std::uint64_t stale_frames_ = 0;
  std::vector<ArrivedRequest> requests_;
  std::vector<ArrivedMessage> messages_;
};

}  // namespace evershard::cluster
