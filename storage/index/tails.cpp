#include "evershard/storage/index/tails.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t events_hint_max = 1u << 20;

}  // namespace

Tails::Tails(GlobalPosition mark, Sizes sizes, bool whole)
    : sizes_(sizes),
      whole_(whole),
      active_(std::make_shared<TailIndex>(mark + 1, std::min(sizes.events, events_hint_max))),
      watermark_(mark.value),
      mark_(mark.value),
      last_added_(mark.value),
      list_(std::make_shared<List>(List{active_})) {}

bool Tails::switch_if_full() {
  if (active_->events() < sizes_.events && active_->bytes() < sizes_.bytes) return false;
  return switch_if_any();
}

bool Tails::switch_if_any() {
  if (active_->events() == 0 || waiting_last_.load(std::memory_order_acquire) != 0) return false;
  begin_next();
  return true;
}

void Tails::begin_next() {
  auto next = std::make_shared<TailIndex>(active_->next(), std::min(sizes_.events, events_hint_max));
  auto last = active_->next() - 1;
  std::lock_guard lock(mutex_);
  // Listed before any of its events can be durable, so no view has a watermark beyond its tails.
  auto list = std::make_shared<List>(*list_);
  list->push_back(next);
  list_ = std::move(list);
  waiting_bytes_.store(active_->bytes(), std::memory_order_relaxed);
  active_bytes_.store(0, std::memory_order_relaxed);
  waiting_last_.store(last.value, std::memory_order_release);
  active_ = std::move(next);
}

void Tails::added() {
  last_added_.store(active_->next().value - 1, std::memory_order_relaxed);
  active_bytes_.store(active_->bytes(), std::memory_order_relaxed);
}

void Tails::show(GlobalPosition watermark) {
  EVERSHARD_CHECK(watermark.value >= watermark_.load(std::memory_order_relaxed), "the watermark goes back");
  watermark_.store(watermark.value, std::memory_order_release);
}

bool Tails::has_sealable() const {
  auto last = waiting_last_.load(std::memory_order_acquire);
  return last != 0 && watermark_.load(std::memory_order_acquire) >= last;
}

std::shared_ptr<const TailIndex> Tails::sealable() const {
  if (!has_sealable()) return nullptr;
  std::lock_guard lock(mutex_);
  return list_->front();
}

void Tails::sealed(GlobalPosition mark) {
  std::shared_ptr<const List> before;  // freed outside the lock: it may hold the last reference to megabytes
  {
    std::lock_guard lock(mutex_);
    EVERSHARD_CHECK(waiting_last_.load(std::memory_order_relaxed) == mark.value, "sealed what was not to be sealed");
    EVERSHARD_CHECK(list_->size() == 2, "a tail is sealed only when another is active");
    auto list = std::make_shared<List>(list_->begin() + 1, list_->end());
    before = std::exchange(list_, std::move(list));
    mark_.store(mark.value, std::memory_order_release);
    waiting_bytes_.store(0, std::memory_order_relaxed);
    waiting_last_.store(0, std::memory_order_release);
  }
}

View Tails::view() const {
  std::lock_guard lock(mutex_);
  return View{watermark(), mark(), list_, whole_};
}

std::size_t Tails::events() const {
  auto mark = mark_.load(std::memory_order_acquire);
  auto last = last_added_.load(std::memory_order_relaxed);
  return last > mark ? last - mark : 0;
}

std::size_t Tails::bytes() const {
  return active_bytes_.load(std::memory_order_relaxed) + waiting_bytes_.load(std::memory_order_relaxed);
}

double Tails::load() const {
  return std::max(static_cast<double>(events()) / static_cast<double>(sizes_.events),
                  static_cast<double>(bytes()) / static_cast<double>(sizes_.bytes));
}

}  // namespace evershard::storage
