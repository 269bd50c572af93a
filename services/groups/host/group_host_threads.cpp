// GroupHost's threads: reading, keeping, waiting for the watermark.

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/services/groups/host/group_host.hpp"
#include "evershard/services/groups/host/hosted_group.hpp"

namespace evershard::cluster {
namespace {

using GroupLock = std::unique_lock<std::mutex>;

/// A wait for the watermark cannot be called off: it is short. What moves is noticed at once.
constexpr auto watermark_wait = std::chrono::milliseconds(100);
constexpr actors::GroupTime never = std::numeric_limits<actors::GroupTime>::max();
constexpr actors::GroupTime sleep_most_ms = 60'000;

/// Until it is rung for, or the time has come, or everything stops. Returns: go on.
bool wait_for_ring(GroupBell& bell, bool GroupBell::*what, actors::GroupTime until) {
  GroupLock lock(bell.mutex);
  const auto ms =
      until == never ? sleep_most_ms : std::clamp<actors::GroupTime>(until - group_time(), 0, sleep_most_ms);
  bell.rung.wait_for(lock, std::chrono::milliseconds(ms), [&] { return bell.*what || bell.stopping; });
  bell.*what = false;
  return !bell.stopping;
}

}  // namespace

std::vector<GroupHost::Group> GroupHost::hosted() const {
  const std::lock_guard lock(mutex_);
  std::vector<Group> all;
  for (const auto& [name, group] : groups_) all.push_back(group);
  return all;
}

void GroupHost::start() {
  const std::lock_guard lock(mutex_);
  if (stopped_ || worker_.joinable()) return;
  worker_ = std::thread([this] { work(); });
  keeper_ = std::thread([this] { keep(); });
  watcher_ = std::thread([this] { watch(); });
}

void GroupHost::work() {
  auto until = never;
  while (wait_for_ring(*bell_, &GroupBell::work, until)) {
    if (options_.at_home) look_at_home();
    until = never;
    for (const auto& group : hosted()) until = std::min(until, group->work());
  }
}

void GroupHost::keep() {
  auto until = never;
  while (wait_for_ring(*bell_, &GroupBell::keep, until)) {
    until = never;
    for (const auto& group : hosted()) until = std::min(until, group->keep());
  }
}

void GroupHost::watch() {
  GlobalPosition seen{0};
  while (true) {
    {
      GroupLock lock(bell_->mutex);
      bell_->rung.wait(lock, [this] { return bell_->sessions > 0 || bell_->stopping; });
      if (bell_->stopping) return;
    }
    const auto there = store_.wait_for(seen + 1, watermark_wait);
    if (there) {
      seen = *there;
      bell_->ring(&GroupBell::work);
    } else if (there.error().code != ErrorCode::timeout) {
      GroupLock lock(bell_->mutex);
      bell_->rung.wait_for(lock, watermark_wait, [this] { return bell_->stopping; });
    }
  }
}

void GroupHost::look_at_home() {
  if (!options_.at_home) return;
  std::vector<std::pair<std::string, std::uint64_t>> held;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, group] : groups_) held.emplace_back(name, group->term());
  }
  for (const auto& [name, term] : held) {
    const auto home = at_home(name);  // where nobody can say that it is still here, it is not
    if (!home || *home != term) let_go(name, moved(name), term);
  }
}

std::function<void()> GroupHost::home_changed() const {
  return [bell = bell_] { bell->ring(&GroupBell::work); };
}

void GroupHost::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    loaded_.notify_all();
  }
  {
    const std::lock_guard lock(bell_->mutex);
    bell_->stopping = true;
    bell_->rung.notify_all();
  }
  for (auto* thread : {&worker_, &keeper_, &watcher_}) {
    if (thread->joinable()) thread->join();
  }
  std::map<std::string, Group> groups;
  {
    const std::lock_guard lock(mutex_);
    groups.swap(groups_);
  }
  const auto until = group_time() + options_.keep_most.count();
  // What could not be kept is given out again after the start.
  for (const auto& [name, group] : groups) (void)group->keep(true);
  for (const auto& [name, group] : groups) {
    group->finish_keeping(until);
    group->end({ErrorCode::unavailable, "the store is closing: groups give nothing out"});
  }
}

}  // namespace evershard::cluster
