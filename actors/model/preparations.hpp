// Preparations: what commands ask an outside service before they are decided, answered by handlers of the program.

#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "evershard/actors/model/codec.hpp"
#include "evershard/actors/model/prepare_handlers.hpp"
#include "evershard/actors/model/types.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// `using Prepares = Types<Asks<fraud::Question, fraud::Score>>;`: what the aggregate's commands may ask, and what is
/// answered.
template <class Question, class Answer>
struct Asks {};

/// The handlers of an aggregate's questions, each once.
class Preparations {
 public:
  /// `handler(const Q&, const PrepareAttempt&, std::function<void(Result<A>)> done)`: asynchronous, called from a
  /// thread of the runtime: it must not block. `done` may be called from within, from any thread, or never: then the
  /// command's time ends. An Error, or what the handler throws, fails the command: nothing is written.
  template <class Q, class A, class Handler>
  Preparations& on(Handler handler, PrepareOptions options = {}) & {
    static_assert(std::is_invocable_v<Handler, const Q&, const PrepareAttempt&, std::function<void(Result<A>)>>,
                  "evershard: Preparations::on<Q, A>(handler): handler(const Q&, const PrepareAttempt&, "
                  "std::function<void(evershard::Result<A>)>)");
    handlers_[name_of_type<Q>()] = {
        [handler = std::move(handler)](const std::string& bytes, const PrepareAttempt& attempt, PrepareDone done) {
          auto question = from_bytes<Q>(bytes);
          if (!question) return done(Refused(std::move(question).error()));
          handler(*question, attempt, [done = std::move(done)](Result<A> answer) {
            done(answer ? to_bytes(*answer) : Result<std::string>(Refused(std::move(answer).error())));
          });
        },
        options};
    return *this;
  }
  template <class Q, class A, class Handler>
  [[nodiscard]] Preparations on(Handler handler, PrepareOptions options = {}) && {
    return std::move(on<Q, A>(std::move(handler), options));
  }
  /// By the question's logical name.
  [[nodiscard]] const PrepareHandlers& handlers() const { return handlers_; }
  operator PrepareHandlers() const& { return handlers_; }
  operator PrepareHandlers() && { return std::move(handlers_); }

 private:
  PrepareHandlers handlers_;
};

}  // namespace evershard
