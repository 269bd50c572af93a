#include "evershard/storage/journal/removal_mask.hpp"

#include <algorithm>
#include <mutex>

namespace evershard::storage {
namespace {

using AggregateName = std::pair<std::string, std::string>;
using AggregateNameView = std::pair<std::string_view, std::string_view>;

}  // namespace

void RemovalMask::hide(const AggregateId& aggregate, SeqNr before) {
  const std::unique_lock lock(mutex_);
  AggregateName name(aggregate.type, aggregate.value);
  std::erase(done_, name);  // a further removal: the aggregate's removals are not done now
  auto& at = before_[std::move(name)];
  at = std::max(at, before);
  empty_.store(false, std::memory_order_release);
  rewritten();
}

void RemovalMask::done(const AggregateId& aggregate) {
  const std::unique_lock lock(mutex_);
  AggregateName name(aggregate.type, aggregate.value);
  if (!before_.contains(name)) return;
  std::erase(done_, name);
  done_.push_back(std::move(name));
  while (done_.size() > done_max) {
    before_.erase(done_.front());
    done_.pop_front();
  }
}

bool RemovalMask::hides(const EventView& event) const {
  if (event.aggregate_type.empty()) return false;
  const std::shared_lock lock(mutex_);
  const auto found = before_.find(AggregateNameView(event.aggregate_type, event.aggregate_value));
  return found != before_.end() && event.seq_nr < found->second;
}

}  // namespace evershard::storage
