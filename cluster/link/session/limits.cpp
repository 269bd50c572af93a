#include "evershard/cluster/link/session/limits.hpp"

#include <string>

namespace evershard::cluster {
namespace {

Refused wrong_limit(const char* name, const std::string& why) {
  return refuse(ErrorCode::invalid_argument, std::string("the link's ") + name + " " + why);
}

}  // namespace

Result<void> check(const LinkLimits& limits) {
  if (limits.queue_calls_max == 0) return wrong_limit("queue_calls_max", "is 0: nothing could be sent");
  if (limits.queue_bytes_max == 0) return wrong_limit("queue_bytes_max", "is 0: nothing could be sent");
  if (limits.requests_max == 0) return wrong_limit("requests_max", "is 0: no request would be taken");
  if (limits.payload_bytes_max == 0) return wrong_limit("payload_bytes_max", "is 0: nothing could be sent");
  const std::string payload = std::to_string(limits.payload_bytes_max) + " bytes that payload_bytes_max allows";
  if (limits.queue_bytes_max < limits.payload_bytes_max)
    return wrong_limit("queue_bytes_max", "is less than the " + payload);
  if (limits.request_bytes_max < limits.payload_bytes_max)
    return wrong_limit("request_bytes_max", "is less than the " + payload);
  if (limits.message_bytes_max < limits.payload_bytes_max + message_bytes_extra) {
    return wrong_limit("message_bytes_max",
                       "is less than " + std::to_string(message_bytes_extra) + " and the " + payload);
  }
  if (limits.answer_bytes_max < limits.payload_bytes_max)
    return wrong_limit("answer_bytes_max", "is less than the " + payload);
  if (limits.frame_bytes_max < 1'024 || limits.frame_bytes_max > frame_bytes_limit) {
    return wrong_limit("frame_bytes_max", "is " + std::to_string(limits.frame_bytes_max) + ", not from 1024 to " +
                                              std::to_string(frame_bytes_limit));
  }
  if (limits.frame_items_max == 0 || limits.frame_items_max > 65'535)
    return wrong_limit("frame_items_max", "is not from 1 to 65535");
  if (limits.unsent_bytes_max < limits.frame_bytes_max)
    return wrong_limit("unsent_bytes_max", "is less than a frame of frame_bytes_max");
  for (const auto time : {limits.queue_time_max, limits.heartbeat, limits.dead_after, limits.greeting_time_max,
                          limits.dial_time_max, limits.redial_min, limits.search_max}) {
    if (time.count() <= 0) return wrong_limit("times", "must all be above 0");
  }
  if (limits.dead_after < 2 * limits.heartbeat)
    return wrong_limit("dead_after", "is less than two heartbeats: a peer that is well would be given up");
  if (limits.dead_after.count() > 3'600'000)
    return wrong_limit("dead_after", "is more than an hour: nobody would ever be given up");
  if (limits.redial_max < limits.redial_min) return wrong_limit("redial_max", "is less than redial_min");
  return {};
}

}  // namespace evershard::cluster
