// Answer<R>: what became of a command, with its reply in the user's type.

#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "evershard/actors/model/answer.hpp"
#include "evershard/actors/model/codec.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard {

/// One of three: replied, rejected by the handler, failed with an Error.
///
///     if (answer) use(answer->balance());
///     else if (answer.rejected()) tell(answer.rejection());
///     else log(answer.error().what);
template <class R>
class Answer {
 public:
  using Reply = R;

  /// A reply that cannot be decoded is a failed answer (corruption), whose `duplicate`, `version` and `position` hold.
  explicit Answer(AnyAnswer any)
      : rejection_(std::move(any.rejection)),
        error_(std::move(any.error)),
        kind_(any.kind),
        duplicate_(any.duplicate),
        version_(any.version),
        position_(any.position) {
    if (kind_ != AnswerKind::replied) return;
    if (auto parsed = parse_bytes(any.reply, reply_); !parsed) {
      kind_ = AnswerKind::failed;
      error_ = std::move(parsed).error();
    }
  }
  template <class Other>
  requires(!std::is_same_v<Other, R>) Answer(const Answer<Other>&) {
    static_assert(std::is_same_v<Other, R>,
                  "evershard: this is not the command's reply type: the Answer<...> asked for is of another");
  }

  [[nodiscard]] AnswerKind kind() const { return kind_; }
  [[nodiscard]] bool replied() const { return kind_ == AnswerKind::replied; }
  [[nodiscard]] bool rejected() const { return kind_ == AnswerKind::rejected; }
  [[nodiscard]] bool failed() const { return kind_ == AnswerKind::failed; }
  explicit operator bool() const { return replied(); }

  /// Only where it replied.
  [[nodiscard]] const R& operator*() const {
    EVERSHARD_CHECK(replied(), "the reply of an answer that did not reply was read");
    return reply_;
  }
  [[nodiscard]] const R* operator->() const { return &**this; }
  /// The handler's text; empty where it did not reject.
  [[nodiscard]] const std::string& rejection() const { return rejection_; }
  /// Why it failed; `timeout` alone leaves open whether the command's events were written.
  [[nodiscard]] const Error& error() const { return error_; }

  /// The command id was stored before, and this is the reply stored with it.
  [[nodiscard]] bool duplicate() const { return duplicate_; }
  /// Of the aggregate as the command left it; 0: it has no events.
  [[nodiscard]] SeqNr version() const { return version_; }
  /// Of the command's last event; 0: it wrote none.
  [[nodiscard]] GlobalPosition position() const { return position_; }

 private:
  R reply_{};
  std::string rejection_;
  Error error_;
  AnswerKind kind_ = AnswerKind::failed;
  bool duplicate_ = false;
  SeqNr version_;
  GlobalPosition position_;
};

}  // namespace evershard
