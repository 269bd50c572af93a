#include "evershard/actors/core/watermark_watch.hpp"

#include <string>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::actors {

// Sequentially consistent on both sides: either the mover sees who is interested, or that one sees the move.
void WatermarkWatch::advance(GlobalPosition watermark) {
  EVERSHARD_CHECK(watermark_.load() <= watermark.value, "the watermark never goes back");
  watermark_.store(watermark.value);
  if (interested_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, listener] : listeners_) listener(watermark);
  moved_.notify_all();
}

void WatermarkWatch::close(Error why) {
  const std::lock_guard lock(mutex_);
  if (!closed_) closed_ = std::move(why);
  moved_.notify_all();
}

Result<GlobalPosition> WatermarkWatch::wait_for(GlobalPosition position, std::chrono::milliseconds timeout,
                                                const std::atomic<bool>* cancelled) {
  if (const auto now = watermark(); now >= position) return now;
  std::unique_lock lock(mutex_);
  interested_.fetch_add(1);
  const auto called_off = [&] { return cancelled != nullptr && cancelled->load(); };
  const auto there = [&] { return closed_.has_value() || called_off() || watermark() >= position; };
  // A deadline far away may overflow the clock; to wait so long is to wait for ever.
  if (timeout > std::chrono::hours(24 * 365)) {
    moved_.wait(lock, there);
  } else {
    moved_.wait_for(lock, timeout, there);
  }
  interested_.fetch_sub(1);
  if (const auto now = watermark(); now >= position) return now;
  if (closed_) return refuse(*closed_);
  if (called_off())
    return refuse(ErrorCode::cancelled, "cancelled while waiting for position " + std::to_string(position.value));
  return refuse(ErrorCode::timeout, "the watermark is at " + std::to_string(watermark().value) + ", not yet at " +
                                        std::to_string(position.value));
}

void WatermarkWatch::nudge() {
  const std::lock_guard lock(mutex_);
  moved_.notify_all();
}

std::uint64_t WatermarkWatch::listen(WatermarkListener listener) {
  const std::lock_guard lock(mutex_);
  listeners_.emplace(++last_id_, std::move(listener));
  interested_.fetch_add(1);
  return last_id_;
}

void WatermarkWatch::unlisten(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  interested_.fetch_sub(static_cast<std::uint32_t>(listeners_.erase(id)));
}

}  // namespace evershard::actors
