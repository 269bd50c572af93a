// CallQueue: requests and messages to one peer, from the call to the answer, over any number of sessions.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "evershard/cluster/link/session/hello.hpp"
#include "evershard/cluster/link/session/limits.hpp"
#include "evershard/cluster/link/session/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// What became of a request; each is answered once.
///
/// Errors: overloaded, unavailable, too_large   it was never sent: trying again is safe
///         timeout                              it was sent, and nobody knows what became of it
///         any other                            the peer's handler refused it
struct CallAnswer {
  CallTicket ticket{};
  Result<std::string> outcome;
};

/// What fits into a frame that is being written.
struct FrameRoom {
  std::size_t bytes = 0;
  std::size_t items = 0;
};

/// First come, first served: among requests, and among messages. Messages do not wait for requests.
class CallQueue {
 public:
  CallQueue(NodeNumber peer, const LinkLimits& limits, LinkTime now);

  /// Errors: overloaded: the queue is full; unavailable: no session for longer than a request waits; too_large; then
  /// there is no other answer
  [[nodiscard]] Result<void> request(CallTicket ticket, MessageKind kind, std::string bytes, LinkTime deadline,
                                     LinkTime now);
  /// Errors: as above. Without an error it is sent, unless it waits too long or the session ends: nobody hears of that.
  [[nodiscard]] Result<void> message(MessageKind kind, std::string bytes, LinkTime now);

  /// A session begins: numbers start again, nothing is under way.
  void begin(const LinkCredit& credit);
  /// It ended: what was under way is answered `timeout`, what was not sent waits for the next one.
  void end(const std::string& why, LinkTime now);
  /// Nothing is taken or sent from here on: what is under way is answered `timeout`, what waits `cancelled`.
  void close(const std::string& why);

  /// Writes what may go out by now: by credit and by room. Returns: whether anything was written
  bool write_requests(std::string& body, FrameRoom room, LinkTime now);
  bool write_messages(std::string& body, FrameRoom room);

  /// Errors: corruption: an answer to what was never asked
  [[nodiscard]] Result<void> answered(CallNumber number, Result<std::string> outcome);
  /// The peer is done with so many bytes of messages since the session began. Errors: corruption: with more than it was
  /// sent
  [[nodiscard]] Result<void> released(std::uint64_t bytes);

  /// Answers what has waited or been under way for too long.
  void expire(LinkTime now);

  [[nodiscard]] std::vector<CallAnswer> take_answers();
  [[nodiscard]] std::size_t waiting() const { return requests_.size() + messages_.size(); }
  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_bytes_; }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }
  /// Messages that were taken and not sent whole.
  [[nodiscard]] std::uint64_t messages_lost() const { return messages_lost_; }
  /// Counts a message that the queue did not take.
  void count_lost_message() { ++messages_lost_; }

 private:
  struct Waiting {
    std::optional<CallTicket> ticket;  ///< of requests; gone when it is answered or in flight
    MessageKind kind{};
    LinkTime deadline{};
    LinkTime leaves{};
    std::string bytes;
    std::size_t sent = 0;
    CallNumber number{};  ///< 0: not begun
  };
  struct InFlight {
    std::optional<CallTicket> ticket;  ///< none: answered `timeout` already; the peer still works on it
    LinkTime deadline{};
    std::uint64_t bytes = 0;
  };

  Result<void> take(std::deque<Waiting>& lane, Waiting call, LinkTime now);
  bool write_lane(std::string& body, FrameRoom room, bool requests, LinkTime now);
  bool may_begin(const Waiting& call, bool request) const;
  void begin_call(Waiting& call, bool request);
  void finished_front(std::deque<Waiting>& lane);
  void answer(std::optional<CallTicket>& ticket, ErrorCode code, std::string what);
  void expire_lane(std::deque<Waiting>& lane, LinkTime now, LinkTime& next);
  void answer_all_in_flight(const std::string& why);
  std::string name() const;

  const NodeNumber peer_;
  const LinkLimits limits_;
  std::deque<Waiting> requests_;
  std::deque<Waiting> messages_;
  std::size_t waiting_bytes_ = 0;
  std::optional<LinkCredit> credit_;  ///< of the session; none: no session
  LinkTime down_since_;
  std::string down_why_ = "it has not been reached yet";
  bool closed_ = false;
  CallNumber last_request_{};
  CallNumber last_message_{};
  std::unordered_map<CallNumber, InFlight> in_flight_;
  std::uint64_t in_flight_bytes_ = 0;
  std::uint64_t message_bytes_sent_ = 0;
  std::uint64_t message_bytes_released_ = 0;
  LinkTime next_expiry_ = LinkTime::max();
  std::vector<CallAnswer> answers_;
  std::uint64_t messages_lost_ = 0;
};

}  // namespace evershard::cluster
