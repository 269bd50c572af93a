// Effects: what goes outside (mail, HTTP, a message broker), performed by handlers of the program.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "evershard/actors/model/codec.hpp"
#include "evershard/actors/model/effect.hpp"
#include "evershard/actors/model/handler_error.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

struct EffectOptions {
  std::uint32_t at_a_time = 16;            ///< of this kind; others wait
  std::uint32_t at_a_time_per_target = 0;  ///< of these, for one target. More than 0 where `on` is given a `target`
  std::uint32_t attempts_max = 10;         ///< then the effect is given up, and the instance told why
  std::chrono::milliseconds retry_first{1'000};  ///< then twice as long each time
  std::chrono::milliseconds retry_most{600'000};
  std::chrono::milliseconds timeout{30'000};  ///< of an attempt that says nothing: it counts as failed
};

struct EffectAttempt {
  std::string key;  ///< the same for each attempt of one effect, and of no other, whichever store or copy of one: the
                    ///< id of the event that wants it, and a number. For who performs it once
  std::uint32_t attempt = 1;  ///< since this program performs it
};

/// Told once, from any thread: what came of an attempt.
using EffectDone = std::function<void(Result<std::string> answer)>;
/// Which effects of a kind are performed when.
struct EffectBounds {
  EffectOptions options;
  /// Whom the effect is for; empty: nobody whose effects are bounded. Null: none of the kind has one.
  std::function<Result<std::string>(const std::string& payload)> target{};
};
struct EffectHandler {
  /// From a thread of the runtime: must not block. `done` may be called from within, or never.
  std::function<void(const std::string& payload, const EffectAttempt& attempt, EffectDone done)> perform;
  EffectBounds bounds;
};
/// Every effect is for nobody in particular.
struct NoTarget {};

/// The handlers of a process's effects, each once.
class Effects {
 public:
  /// `handler(const E&, const EffectAttempt&, std::function<void(Result<R>)> done)`: asynchronous. What it throws is a
  /// failed attempt. An answer of `invalid_argument` is final: no other attempt follows.
  ///
  /// `std::string target(const E&)`: the host, the queue, the account that the effect is for. It looks at its argument
  /// alone. Of one target are performed `at_a_time_per_target` at a time; others pass those that wait for it. Empty:
  /// not bounded so. What it throws is a failed attempt.
  template <class E, class R = Done, class Handler, class Target = NoTarget>
  Effects& on(Handler handler, EffectOptions options = {}, Target target = {}) & {
    static_assert(std::is_invocable_v<Handler, const E&, const EffectAttempt&, std::function<void(Result<R>)>>,
                  "evershard: Effects::on<E, R>(handler): handler(const E&, const EffectAttempt&, "
                  "std::function<void(evershard::Result<R>)>)");
    EffectBounds bounds{options};
    if constexpr (!std::is_same_v<Target, NoTarget>) {
      static_assert(std::is_invocable_r_v<std::string, Target, const E&>,
                    "evershard: Effects::on<E, R>(handler, options, target): std::string target(const E&)");
      bounds.target = [target = std::move(target)](const std::string& payload) mutable -> Result<std::string> {
        auto effect = from_bytes<E>(payload);
        if (!effect) return Refused(std::move(effect).error());
        try {
          return std::string(target(*effect));
        } catch (...) {
          return refuse(thrown(ErrorCode::unavailable, "the target of effect " + name_of_type<E>()));
        }
      };
    }
    handlers_[name_of_type<E>()] = {
        [handler = std::move(handler)](const std::string& payload, const EffectAttempt& attempt, EffectDone done) {
          auto effect = from_bytes<E>(payload);
          if (!effect) return done(Refused(std::move(effect).error()));
          handler(*effect, attempt, [done = std::move(done)](Result<R> answer) {
            done(answer ? to_bytes(*answer) : Result<std::string>(Refused(std::move(answer).error())));
          });
        },
        std::move(bounds)};
    return *this;
  }
  template <class E, class R = Done, class Handler, class Target = NoTarget>
  [[nodiscard]] Effects on(Handler handler, EffectOptions options = {}, Target target = {}) && {
    return std::move(on<E, R>(std::move(handler), options, std::move(target)));
  }
  [[nodiscard]] const std::map<std::string, EffectHandler>& handlers() const { return handlers_; }
  [[nodiscard]] std::map<std::string, EffectBounds> bounds() const;
  /// Shape: there is a handler. `done` may be called from within; what the handler throws is told to it too.
  void perform(const std::string& type, const std::string& payload, const EffectAttempt& attempt,
               const EffectDone& done) const;

 private:
  std::map<std::string, EffectHandler> handlers_;  ///< by the effect's logical name
};

}  // namespace evershard
