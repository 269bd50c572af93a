#include "evershard/api/messages/refusal.hpp"

#include <algorithm>
#include <limits>

namespace evershard::messages {

void put_refusal(const Error& error, const std::vector<RecordedEvent>& conflicts, std::size_t bytes_max, pb::Error& to,
                 std::chrono::milliseconds retry_after) {
  put(error, to);
  if (error.code == ErrorCode::overloaded) {
    to.set_retry_after_ms(static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(retry_after.count(), 1, std::numeric_limits<std::uint32_t>::max())));
  }
  for (const auto& event : conflicts) {
    put(event, *to.add_conflicts());
    if (to.ByteSizeLong() <= bytes_max) continue;
    to.mutable_conflicts()->RemoveLast();
    break;
  }
}

}  // namespace evershard::messages
