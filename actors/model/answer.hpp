// AnyAnswer: what became of one command, as the runtime says it: bytes, no user's type. Answer<R> is its typed side.

#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "evershard/protocol/error.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard {

enum class AnswerKind : std::uint8_t {
  replied,   ///< the handler's reply; what it rests on is durable
  rejected,  ///< the handler said no; nothing was written; safe to decide again
  failed,    ///< an Error; `timeout` alone leaves open whether the command's events were written
};

/// Every command is answered once, with one of these.
struct AnyAnswer {
  AnswerKind kind = AnswerKind::failed;
  std::string reply;        ///< replied: encoded, by the command's reply type
  std::string rejection;    ///< rejected: the handler's text
  Error error;              ///< failed
  bool duplicate = false;   ///< replied: the command id was stored before, and this is the reply stored with it
  SeqNr version;            ///< replied, rejected: of the aggregate as the command left it; 0: it has no events
  GlobalPosition position;  ///< replied: of the command's last event; 0: it wrote none

  static AnyAnswer replied(std::string reply, SeqNr version, GlobalPosition position, bool duplicate = false) {
    AnyAnswer answer;
    answer.kind = AnswerKind::replied;
    answer.reply = std::move(reply);
    answer.version = version;
    answer.position = position;
    answer.duplicate = duplicate;
    return answer;
  }
  static AnyAnswer rejected(std::string text, SeqNr version) {
    AnyAnswer answer;
    answer.kind = AnswerKind::rejected;
    answer.rejection = std::move(text);
    answer.version = version;
    return answer;
  }
  static AnyAnswer failed(Error error) {
    AnyAnswer answer;
    answer.kind = AnswerKind::failed;
    answer.error = std::move(error);
    return answer;
  }

  friend bool operator==(const AnyAnswer&, const AnyAnswer&) = default;
};

}  // namespace evershard
