#include "evershard/actors/process/effect_queue.hpp"

#include "evershard/protocol/check.hpp"

namespace evershard::actors {

void EffectQueue::add(std::string id, const std::string& target) {
  const auto found = targets_.try_emplace(target).first;
  found->second.waiting.emplace_back(++came_, std::move(id));
  look_at(found);
}

std::optional<std::string> EffectQueue::begin() {
  if (performing_ >= at_a_time_ || ready_.empty()) return std::nullopt;
  const auto found = targets_.find(ready_.extract(ready_.begin()).mapped());
  Target& target = found->second;
  target.ready = false;
  auto id = std::move(target.waiting.front().second);
  target.waiting.pop_front();
  ++performing_;
  ++target.performing;
  look_at(found);
  return id;
}

void EffectQueue::end(const std::string& target) {
  const auto found = targets_.find(target);
  EVERSHARD_CHECK(found != targets_.end() && found->second.performing > 0, "an effect ends that was not begun");
  --performing_;
  --found->second.performing;
  look_at(found);
}

void EffectQueue::look_at(Targets::iterator found) {
  auto& [name, target] = *found;
  if (target.ready) return;
  if (target.waiting.empty()) {
    if (target.performing == 0) targets_.erase(found);
    return;
  }
  if (per_target_ != 0 && !name.empty() && target.performing >= per_target_) return;
  target.ready = true;
  ready_.emplace(target.waiting.front().first, name);
}

}  // namespace evershard::actors
