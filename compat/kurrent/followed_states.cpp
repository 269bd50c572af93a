#include "evershard/compat/kurrent/followed_states.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace evershard::kurrent {
namespace {

constexpr std::chrono::milliseconds change_patience = std::chrono::seconds(30);

void raise_to(std::atomic<std::uint64_t>& greatest, GlobalPosition position) {
  auto before = greatest.load();
  while (before < position.value && !greatest.compare_exchange_weak(before, position.value)) {
  }
}

}  // namespace

Result<void> FollowedStates::catch_up() {
  const auto head = events_.head();
  if (!head) return refuse(head.error());
  const auto wanted = std::max({head->value, changed_.load(), answered_.load()});
  if (begun_ && applied_.load() >= wanted) return {};
  const std::lock_guard reading(reading_);
  if (begun_ && applied_.load() >= wanted) return {};
  if (wanted > head->value) {  // of a cluster: what was acknowledged may not be here yet
    auto there = events_.wait_for(GlobalPosition(wanted), change_patience);
    if (!there) return refuse(std::move(there).error());
  }
  if (!feed_) feed_.emplace(events_.follow(StreamStates::query(), {.after = GlobalPosition(applied_.load())}));
  while (!begun_ || applied_.load() < wanted) {
    auto item = feed_->next(std::chrono::milliseconds(0));
    if (!item) {
      feed_.reset();
      return refuse(std::move(item).error());
    }
    const std::lock_guard lock(mutex_);
    for (const auto& event : item->events) states_.apply(event);
    applied_ = item->watermark.value;
    begun_ = begun_ || applied_ >= wanted;
  }
  return {};
}

void FollowedStates::changed_at(GlobalPosition position) { raise_to(changed_, position); }
void FollowedStates::answered_at(GlobalPosition position) { raise_to(answered_, position); }

std::optional<StreamState> FollowedStates::find(const AggregateId& stream) const {
  const std::lock_guard lock(mutex_);
  return states_.find(stream);
}

}  // namespace evershard::kurrent
