#include "evershard/storage/index/read_work.hpp"

#include <time.h>

#include <string>
#include <utility>

namespace evershard::storage {
namespace {

/// Some tens of microseconds: a caller who goes is heard of soon, and the clocks cost nothing that counts.
constexpr std::int64_t look_every_units = 32'768;

thread_local ReadWork::Scope* scope_here = nullptr;
thread_local ReadWork* work_here = nullptr;

std::chrono::nanoseconds thread_time() {
  timespec now{};
  // It is there on every Linux.
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

void ReadWork::cancel(Error why) {
  {
    const std::lock_guard lock(mutex_);
    if (!why_) why_ = std::move(why);
  }
  stop_.request_stop();
}

Result<void> ReadWork::wanted() const {
  if (stop_.stop_requested()) {
    const std::lock_guard lock(mutex_);
    return refuse(*why_);
  }
  if (deadline_ && Clock::now() > *deadline_) return refuse(ErrorCode::timeout, "the time of the read is over");
  return {};
}

ReadWork* ReadWork::current() { return work_here; }

ReadWork::Scope::Scope(ReadWork& work, Hand hand)
    : work_(work),
      around_(std::exchange(scope_here, this)),
      left_(look_every_units),
      began_(thread_time()),
      long_(hand == Hand::helping) {
  work_here = &work;
}

ReadWork::Scope::~Scope() {
  scope_here = around_;
  work_here = around_ == nullptr ? nullptr : &around_->work_;
}

Result<void> ReadWork::Scope::look() {
  left_ = look_every_units;
  EVERSHARD_TRY(work_.wanted());
  const auto taken = thread_time() - began_;
  if (!long_ && taken >= work_.limits_.short_max) EVERSHARD_TRY(become_long());
  if (taken <= work_.limits_.processor_max) return {};
  return refuse(ErrorCode::too_large, "the read has taken " + std::to_string(work_.limits_.processor_max.count()) +
                                          " ms of processor time, which is all that one answer may "
                                          "(read-processor-max): an index, a narrower filter or a smaller range helps");
}

Result<void> ReadWork::Scope::become_long() {
  long_ = true;
  if (!work_.when_long_) return {};
  auto place = work_.when_long_(work_);
  if (!place) return refuse(std::move(place).error());
  place_ = std::move(*place);
  return {};
}

Result<void> ReadWork::Scope::look_before(std::uint64_t units) {
  EVERSHARD_TRY(look());
  const bool is_long = std::chrono::nanoseconds(units) >= work_.limits_.short_max;
  return is_long && !long_ ? become_long() : Result<void>();
}

Result<void> spend_at_once(std::uint64_t units) {
  auto* const scope = scope_here;
  return scope == nullptr ? Result<void>() : scope->look_before(units);
}

Result<void> spend(std::uint64_t units) {
  auto* const scope = scope_here;
  if (scope == nullptr) return {};
  scope->left_ -= static_cast<std::int64_t>(units);
  if (scope->left_ > 0) return {};
  return scope->look();
}

}  // namespace evershard::storage
