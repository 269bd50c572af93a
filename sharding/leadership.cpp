#include "evershard/sharding/leadership.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace evershard::sharding {

void add_leadership(Leaderships& to, Leadership newest) {
  to.push_back(std::move(newest));
  if (to.size() > leaderships_kept) to.erase(to.begin(), to.end() - leaderships_kept);
}

Leaderships newest_of(const Leaderships& all, std::size_t count) {
  return {all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size())), all.end()};
}

EventId leader_of(const Leaderships& all, Epoch epoch) {
  const auto found = std::ranges::lower_bound(all, epoch, {}, &Leadership::epoch);
  return found == all.end() || found->epoch != epoch ? EventId{} : found->identity;
}

Result<void> check_one_history(const Leaderships& here, const Leaderships& there) {
  if (here.empty() || there.empty()) return {};
  bool common = false;
  for (const auto& led : there) {
    const auto known = leader_of(here, led.epoch);
    if (!known.given() || !led.identity.given()) continue;
    common = true;
    if (known == led.identity) continue;
    return refuse(ErrorCode::fenced,
                  "epoch " + std::to_string(led.epoch.value) + " was led by " + known.text() + " here and by " +
                      led.identity.text() +
                      " there: one of the two follows a copy of the cut log, which went on by itself");
  }
  if (common) return {};
  return refuse(ErrorCode::unavailable, "the epochs known here end with " + std::to_string(here.back().epoch.value) +
                                            ", those there with " + std::to_string(there.back().epoch.value) +
                                            ", and none is common: whether both are of one history is not known");
}

Result<void> check_one_leader(const Leaderships& here, const Leaderships& there) {
  if (here.empty() || there.empty() || here.back() == there.back()) return {};
  return refuse(ErrorCode::unavailable,
                "the coordinator followed here leads under epoch " + std::to_string(here.back().epoch.value) +
                    ", the one followed there under epoch " + std::to_string(there.back().epoch.value) +
                    ": one of the two has not heard of the newer one yet");
}

}  // namespace evershard::sharding
