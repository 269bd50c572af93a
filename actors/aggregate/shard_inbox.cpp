#include "evershard/actors/aggregate/shard_inbox.hpp"

#include <utility>

namespace evershard::actors {

void ShardInbox::put(ShardInput input) {
  std::function<void(ShardInput&&)> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (wake_) {
      inputs_.push_back(std::move(input));
      if (!std::exchange(awake_, true)) wake_();
      return;
    }
    dropped = dropped_;
  }
  if (dropped) dropped(std::move(input));
}

void ShardInbox::take(std::vector<ShardInput>& out) {
  out.clear();
  const std::lock_guard lock(mutex_);
  out.swap(inputs_);
  if (out.empty()) awake_ = false;
}

void ShardInbox::close(std::function<void(ShardInput&&)> dropped) {
  std::vector<ShardInput> left;
  {
    const std::lock_guard lock(mutex_);
    dropped_ = dropped;
    wake_ = nullptr;
    left.swap(inputs_);
  }
  for (auto& input : left) dropped(std::move(input));
}

}  // namespace evershard::actors
