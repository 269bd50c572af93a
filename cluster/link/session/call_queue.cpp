#include "evershard/cluster/link/session/call_queue.hpp"

#include <algorithm>
#include <utility>

#include "evershard/cluster/link/session/piece.hpp"

namespace evershard::cluster {
namespace {

std::uint64_t message_cost(std::size_t bytes) { return bytes + message_bytes_extra; }

std::uint32_t time_left_ms(LinkTime deadline, LinkTime now) {
  if (deadline <= now) return 1;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(in_ms(deadline - now).count(), 1, UINT32_MAX));
}

std::string bytes_text(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

CallQueue::CallQueue(NodeNumber peer, const LinkLimits& limits, LinkTime now)
    : peer_(peer), limits_(limits), down_since_(now) {}

// The coordinator has no number.
std::string CallQueue::name() const {
  return peer_.value == 0 ? "the coordinator" : "node " + std::to_string(peer_.value);
}

Result<void> CallQueue::request(CallTicket ticket, MessageKind kind, std::string bytes, LinkTime deadline,
                                LinkTime now) {
  return take(requests_,
              Waiting{ticket, kind, deadline, std::min(deadline, now + limits_.queue_time_max), std::move(bytes)}, now);
}

Result<void> CallQueue::message(MessageKind kind, std::string bytes, LinkTime now) {
  const auto leaves = now + limits_.queue_time_max;
  return take(messages_, Waiting{std::nullopt, kind, leaves, leaves, std::move(bytes)}, now);
}

Result<void> CallQueue::take(std::deque<Waiting>& lane, Waiting call, LinkTime now) {
  if (closed_) return refuse(ErrorCode::cancelled, "the link to " + name() + " is closed");
  const std::size_t payload_max =
      credit_ ? std::min(limits_.payload_bytes_max, credit_->payload_bytes_max) : limits_.payload_bytes_max;
  if (call.bytes.size() > payload_max) {
    return refuse(ErrorCode::too_large, "a payload of " + bytes_text(call.bytes.size()) + " is more than the " +
                                            bytes_text(payload_max) + " that go to " + name());
  }
  if (!credit_ && now - down_since_ >= limits_.queue_time_max)
    return refuse(ErrorCode::unavailable, name() + " is not connected: " + down_why_);
  if (waiting() >= limits_.queue_calls_max || waiting_bytes_ + call.bytes.size() > limits_.queue_bytes_max) {
    return refuse(ErrorCode::overloaded, std::to_string(waiting()) + " calls of " + bytes_text(waiting_bytes_) +
                                             " wait for " + name() + " already");
  }
  next_expiry_ = std::min(next_expiry_, call.leaves);
  waiting_bytes_ += call.bytes.size();
  lane.push_back(std::move(call));
  return {};
}

void CallQueue::begin(const LinkCredit& credit) {
  credit_ = credit;
  last_request_ = last_message_ = {};
  message_bytes_sent_ = message_bytes_released_ = 0;
}

void CallQueue::end(const std::string& why, LinkTime now) {
  if (credit_) down_since_ = now;
  credit_.reset();
  down_why_ = why;
  // What went out in part goes with the session: its receiver drops what it has of it.
  if (!requests_.empty() && requests_.front().number.value != 0) finished_front(requests_);
  if (!messages_.empty() && messages_.front().number.value != 0) {
    ++messages_lost_;
    finished_front(messages_);
  }
  answer_all_in_flight(why);
}

void CallQueue::close(const std::string& why) {
  end(why, down_since_);
  closed_ = true;
  for (auto& call : requests_)
    answer(call.ticket, ErrorCode::cancelled, "the link to " + name() + " was closed before this was sent");
  messages_lost_ += messages_.size();
  requests_.clear();
  messages_.clear();
  waiting_bytes_ = 0;
}

void CallQueue::answer_all_in_flight(const std::string& why) {
  // In the sequence in which they were asked, whatever the table's.
  std::vector<std::pair<CallNumber, CallTicket>> open;
  for (const auto& [number, call] : in_flight_) {
    if (call.ticket) open.emplace_back(number, *call.ticket);
  }
  std::sort(open.begin(), open.end());
  for (const auto& [number, ticket] : open) {
    answers_.push_back({ticket, refuse(ErrorCode::timeout, "the outcome is unknown: the session with " + name() +
                                                               " ended while it was under way: " + why)});
  }
  in_flight_.clear();
  in_flight_bytes_ = 0;
}

bool CallQueue::write_requests(std::string& body, FrameRoom room, LinkTime now) {
  return write_lane(body, room, true, now);
}
bool CallQueue::write_messages(std::string& body, FrameRoom room) { return write_lane(body, room, false, {}); }

bool CallQueue::write_lane(std::string& body, FrameRoom room, bool requests, LinkTime now) {
  auto& lane = requests ? requests_ : messages_;
  const auto type = requests ? FrameType::requests : FrameType::messages;
  bool wrote = false;
  while (credit_ && !lane.empty() && room.items > 0 && room.bytes > piece_extra_bytes_max) {
    auto& call = lane.front();
    const bool first = call.number.value == 0;
    if (first) {
      if (call.bytes.size() > credit_->payload_bytes_max) {  // it was taken for a session that allowed more
        answer(call.ticket, ErrorCode::too_large,
               "a payload of " + bytes_text(call.bytes.size()) + " is more than the " +
                   bytes_text(credit_->payload_bytes_max) + " that " + name() + " takes");
        messages_lost_ += requests ? 0 : 1;
        finished_front(lane);
        continue;
      }
      if (!may_begin(call, requests)) break;
      begin_call(call, requests);
    }
    const auto part = std::string_view(call.bytes).substr(call.sent, room.bytes - piece_extra_bytes_max);
    write_piece(
        body, type,
        Piece{first ? PieceType::first : PieceType::more, call.number, call.kind,
              requests ? time_left_ms(call.deadline, now) : 0, static_cast<std::uint32_t>(call.bytes.size()), part});
    wrote = true;
    room.bytes -= part.size() + piece_extra_bytes_max;
    --room.items;
    call.sent += part.size();
    if (call.sent == call.bytes.size()) finished_front(lane);
  }
  return wrote;
}

bool CallQueue::may_begin(const Waiting& call, bool request) const {
  if (request)
    return in_flight_.size() < credit_->requests_max &&
           in_flight_bytes_ + call.bytes.size() <= credit_->request_bytes_max;
  return message_bytes_sent_ - message_bytes_released_ + message_cost(call.bytes.size()) <= credit_->message_bytes_max;
}

void CallQueue::begin_call(Waiting& call, bool request) {
  call.number = request ? ++last_request_ : ++last_message_;
  if (!request) {
    message_bytes_sent_ += message_cost(call.bytes.size());
    return;
  }
  in_flight_bytes_ += call.bytes.size();
  in_flight_.emplace(call.number, InFlight{std::exchange(call.ticket, std::nullopt), call.deadline, call.bytes.size()});
  next_expiry_ = std::min(next_expiry_, call.deadline);
}

void CallQueue::finished_front(std::deque<Waiting>& lane) {
  waiting_bytes_ -= lane.front().bytes.size();
  lane.pop_front();
}

Result<void> CallQueue::answered(CallNumber number, Result<std::string> outcome) {
  const auto found = in_flight_.find(number);
  if (found == in_flight_.end())
    return refuse(ErrorCode::corruption,
                  name() + " answered request " + std::to_string(number.value) + ", which is not under way");
  in_flight_bytes_ -= found->second.bytes;
  if (found->second.ticket) answers_.push_back({*found->second.ticket, std::move(outcome)});
  in_flight_.erase(found);
  return {};
}

Result<void> CallQueue::released(std::uint64_t bytes) {
  if (bytes > message_bytes_sent_ || bytes < message_bytes_released_) {
    return refuse(ErrorCode::corruption, name() + " is done with " + bytes_text(bytes) + " of messages, after " +
                                             bytes_text(message_bytes_released_) + " of the " +
                                             bytes_text(message_bytes_sent_) + " it was sent");
  }
  message_bytes_released_ = bytes;
  return {};
}

void CallQueue::expire(LinkTime now) {
  if (now < next_expiry_) return;
  LinkTime next = LinkTime::max();
  expire_lane(requests_, now, next);
  expire_lane(messages_, now, next);
  for (auto& [number, call] : in_flight_) {
    if (!call.ticket) continue;
    if (call.deadline <= now) {
      answer(call.ticket, ErrorCode::timeout,
             "the outcome is unknown: " + name() + " has not answered within the time given");
    } else {
      next = std::min(next, call.deadline);
    }
  }
  next_expiry_ = next;
}

void CallQueue::expire_lane(std::deque<Waiting>& lane, LinkTime now, LinkTime& next) {
  const auto is_over = [&](Waiting& call) {
    if (call.number.value != 0) return false;  // begun: its rest must follow, and its answer is in flight
    if (call.leaves > now) {
      next = std::min(next, call.leaves);
      return false;
    }
    waiting_bytes_ -= call.bytes.size();
    if (!call.ticket) {
      ++messages_lost_;
    } else if (credit_) {
      answer(call.ticket, ErrorCode::overloaded,
             name() + " takes no more for now: this waited as long as it may, and was not sent");
    } else {
      answer(call.ticket, ErrorCode::unavailable, name() + " is not connected: " + down_why_);
    }
    return true;
  };
  std::erase_if(lane, is_over);
}

void CallQueue::answer(std::optional<CallTicket>& ticket, ErrorCode code, std::string what) {
  if (!ticket) return;
  answers_.push_back({*ticket, refuse(code, std::move(what))});
  ticket.reset();
}

std::vector<CallAnswer> CallQueue::take_answers() { return std::exchange(answers_, {}); }

}  // namespace evershard::cluster
