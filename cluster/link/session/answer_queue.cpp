#include "evershard/cluster/link/session/answer_queue.hpp"

#include <algorithm>
#include <utility>

#include "evershard/cluster/link/session/piece.hpp"
#include "evershard/protocol/codec.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t refusal_text_bytes_max = 4'096;

// Protobuf takes nothing but UTF-8.
std::string encoded_refusal(Error error) {
  if (error.what.size() > refusal_text_bytes_max || !is_utf8(error.what))
    error.what = in_quotes(error.what, refusal_text_bytes_max);
  return codec::encode(error);
}

}  // namespace

Result<void> AnswerQueue::open(CallNumber number, std::uint64_t bytes) {
  if (open_.size() >= limits_.requests_max || open_bytes_ + bytes > limits_.request_bytes_max) {
    return refuse(ErrorCode::corruption, "the peer sends more than it was granted: " + std::to_string(open_.size()) +
                                             " requests of " + std::to_string(open_bytes_) + " bytes are open");
  }
  open_.emplace(number, bytes);
  open_bytes_ += bytes;
  return {};
}

void AnswerQueue::answer(CallNumber number, Result<std::string> outcome) {
  const auto found = open_.find(number);
  if (found == open_.end()) return;
  open_bytes_ -= found->second;
  open_.erase(found);
  if (outcome && outcome->size() > payload_bytes_max_) {
    outcome = refuse(ErrorCode::too_large, "the answer has " + std::to_string(outcome->size()) + " bytes, " +
                                               std::to_string(payload_bytes_max_) + " are allowed");
  }
  if (outcome && waiting_bytes_ + outcome->size() > limits_.answer_bytes_max) {
    // Done, maybe; nobody will hear it: what cannot be told is not known.
    outcome = refuse(ErrorCode::timeout, "the outcome is unknown: the answer was dropped, " +
                                             std::to_string(waiting_bytes_) + " bytes of answers wait to be taken");
  }
  Waiting waiting{number, !outcome, outcome ? std::move(*outcome) : encoded_refusal(std::move(outcome).error())};
  waiting_bytes_ += waiting.bytes.size();
  waiting_.push_back(std::move(waiting));
}

bool AnswerQueue::write(std::string& body, FrameRoom room) {
  bool wrote = false;
  while (!waiting_.empty() && room.items > 0 && room.bytes > piece_extra_bytes_max) {
    auto& answer = waiting_.front();
    auto part = std::string_view(answer.bytes).substr(answer.sent);
    const std::size_t room_for_bytes = room.bytes - piece_extra_bytes_max;
    if (answer.refusal && part.size() > room_for_bytes && wrote) break;  // in one piece: the next frame has room
    if (!answer.refusal) part = part.substr(0, room_for_bytes);
    const auto type = answer.refusal ? PieceType::refusal : answer.begun ? PieceType::more : PieceType::first;
    write_piece(body, FrameType::answers,
                Piece{type, answer.number, {}, 0, static_cast<std::uint32_t>(answer.bytes.size()), part});
    wrote = true;
    answer.begun = true;
    answer.sent += part.size();
    room.bytes -= std::min(room.bytes, part.size() + piece_extra_bytes_max);
    --room.items;
    if (answer.sent < answer.bytes.size()) continue;
    waiting_bytes_ -= answer.bytes.size();
    waiting_.pop_front();
  }
  return wrote;
}

}  // namespace evershard::cluster
