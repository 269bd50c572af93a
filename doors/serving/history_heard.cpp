#include "evershard/doors/serving/history_heard.hpp"

#include "evershard/protocol/beyond_head.hpp"
#include "evershard/sharding/heard_leaderships.hpp"

namespace evershard::serving {

Result<void> goes_on(std::string_view said_fork, std::string_view said_led, std::string_view own_fork,
                     const std::string* own_led) {
  if (!said_fork.empty() && !own_fork.empty() && said_fork != own_fork)
    return refuse(another_fork(said_fork, own_fork));
  if (said_led.empty() || own_led == nullptr || said_led == *own_led) return {};
  const auto heard = sharding::leaderships_from(said_led);
  if (!heard) return refuse(ErrorCode::invalid_argument, std::string(led_name) + ": " + heard.error().what);
  const auto own = sharding::leaderships_from(*own_led);
  return own ? sharding::check_heard(*heard, *own) : Result<void>(refuse(own.error()));
}

}  // namespace evershard::serving
