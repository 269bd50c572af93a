// What nodes of a cluster say to each other of persistent subscriptions: names of calls, and refusals as bytes.

#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "evershard/compat/kurrent/persistent_subscriptions.hpp"
#include "evershard/kurrent/persistent_homes.pb.h"

namespace evershard::kurrent {

namespace home_calls {
inline constexpr const char* create = "persistent.create";
inline constexpr const char* update = "persistent.update";
inline constexpr const char* remove = "persistent.remove";
inline constexpr const char* info = "persistent.info";
inline constexpr const char* replay = "persistent.replay";
inline constexpr const char* truncate_parked = "persistent.truncate_parked";
inline constexpr const char* restart = "persistent.restart";
inline constexpr const char* join = "persistent.join";
inline constexpr const char* take = "persistent.take";
inline constexpr const char* settle = "persistent.settle";
}  // namespace home_calls

/// A consumer's node asks at least so often whether there is something; a home answers that there is nothing before.
inline constexpr std::chrono::milliseconds take_time = std::chrono::seconds(10);
inline constexpr std::chrono::milliseconds nothing_after = std::chrono::seconds(5);
/// One that has not asked for so long has gone: what it had is given to others.
inline constexpr std::chrono::milliseconds silence_max = std::chrono::seconds(20);
inline constexpr std::size_t taken_bytes_max = 1u << 20;  ///< of one answer, unless one event has more

void put(const Refusal& refusal, homes::Reply::Refused& to);
[[nodiscard]] Refusal refusal_in(const homes::Reply::Refused& from);

/// An answer. `wrong_shard` is no refusal but the error that it is: the call goes on to where the home is.
/// `seen`: what the home had seen then: a node that has seen as much reads what was changed.
[[nodiscard]] Result<std::string> reply_of(const std::optional<Refusal>& refused, std::string answer,
                                           GlobalPosition seen = {});
struct Answer {
  std::string bytes{};
  GlobalPosition seen{};
};
/// What a home has answered. Refused with what the call failed with, too.
[[nodiscard]] std::variant<Answer, Refusal> answer_in(Result<std::string> reply);

}  // namespace evershard::kurrent
