// A service is told of each order over HTTP, and what it says is kept as an event.
//
//     OrderPlaced -> POST, with a key -> 2xx -> Taken
//                                     -> 4xx -> Refused
//                                     -> 5xx, nothing, no connection -> again later, with the same key
//
// The service may be asked twice: its answer was lost, or this program was killed before it stored the answer. The
// service knows the key, and acts once.

#pragma once

#include <chrono>
#include <evershard/aggregate.hpp>
#include <evershard/local.hpp>
#include <evershard/process.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "examples/webhooks/hooks.pb.h"
#include "examples/webhooks/http_posts.hpp"

namespace example {

struct Order {
  static constexpr std::string_view type = "order";
  using State = hooks::Order;
  using Commands = evershard::Types<hooks::PlaceOrder>;
  using Events = evershard::Types<hooks::OrderPlaced>;

  static evershard::Effect<> on(const State& order, const hooks::PlaceOrder& command) {
    if (order.placed()) return evershard::nothing();
    hooks::OrderPlaced placed;
    placed.set_order(command.order());
    placed.set_tell(command.tell());
    return evershard::persist(placed);
  }
  static void apply(State& order, const hooks::OrderPlaced&) { order.set_placed(true); }
};

/// An instance is an order's.
struct Webhook {
  static constexpr std::string_view type = "webhook";
  using State = hooks::Webhook;
  using Reacts = evershard::Types<hooks::OrderPlaced>;
  using Effects = evershard::Types<evershard::Performs<hooks::Post, hooks::Answered>>;
  using Events = evershard::Types<hooks::Taken, hooks::Refused>;

  static std::string key(const hooks::OrderPlaced& placed) { return placed.order(); }
  static evershard::Reaction<Webhook> on(const State&, const hooks::OrderPlaced& placed) {
    hooks::Post post;
    post.set_address(placed.tell());
    post.set_path("/orders");
    post.set_body("{\"order\":\"" + placed.order() + "\"}");  // an application has a library for this
    return evershard::react().perform(post);
  }
  static evershard::Reaction<Webhook> on_performed(const State&, const hooks::Post&, const hooks::Answered& answer) {
    hooks::Taken taken;
    taken.set_answer(answer.body());
    return evershard::react().record(taken).end();
  }
  static evershard::Reaction<Webhook> on_not_performed(const State&, const hooks::Post&, const std::string& reason) {
    hooks::Refused refused;
    refused.set_reason(reason);
    return evershard::react().record(refused).end();
  }

  static void apply(State& state, const hooks::Taken& event) {
    state.set_status(State::TAKEN);
    state.set_answer(event.answer());
  }
  static void apply(State& state, const hooks::Refused& event) {
    state.set_status(State::REFUSED);
    state.set_answer(event.reason());
  }
};

/// What a status means: done, refused for good (`invalid_argument` is final), or to be tried again.
inline evershard::Result<hooks::Answered> judged(evershard::Result<HttpAnswer> answer) {
  using evershard::ErrorCode;
  if (!answer) return evershard::refuse(std::move(answer).error());
  if (answer->status >= 200 && answer->status < 300) {
    hooks::Answered answered;
    answered.set_body(std::move(answer->body));
    return answered;
  }
  // Too slow, this key is under way, too early, too many: the next time it may be taken.
  const bool passes = answer->status >= 500 || answer->status == 408 || answer->status == 409 ||
                      answer->status == 425 || answer->status == 429;
  return evershard::refuse(passes ? ErrorCode::unavailable : ErrorCode::invalid_argument,
                           "status " + std::to_string(answer->status) + ": " + answer->body);
}

/// `posts` outlives the store that runs the process.
inline evershard::Effects webhook_effects(HttpPosts& posts, evershard::EffectOptions options) {
  return evershard::Effects{}.on<hooks::Post, hooks::Answered>(
      [&posts](const hooks::Post& post, const evershard::EffectAttempt& attempt,
               std::function<void(evershard::Result<hooks::Answered>)> done) {
        posts.post({post.address(), post.path(), post.body(), attempt.key},
                   [done = std::move(done)](evershard::Result<HttpAnswer> answer) { done(judged(std::move(answer))); });
      },
      options, [](const hooks::Post& post) { return post.address(); });
}

}  // namespace example
