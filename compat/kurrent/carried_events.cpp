#include "evershard/compat/kurrent/carried_events.hpp"

#include <utility>

namespace evershard::kurrent {

CarriedEvents::Given CarriedEvents::given(const EventId& id) {
  if (const auto found = said_.find(id); found != said_.end() && found->second.heard_in < home_) {
    found->second.heard_in = home_;
    return {What::say_again, found->second.said};
  }
  if (to_come_again_.erase(id) != 0) return {What::keep_back};
  has_.insert(id);
  return {};
}

void CarriedEvents::said(const EventId& id, Said what) {
  has_.erase(id);
  const bool is_this_homes = to_come_again_.erase(id) == 0;
  // It comes again whoever heard it.
  if (what.refused == PersistentSubscription::Nack::retry) return;
  const auto [at, is_new] = said_.insert_or_assign(id, Kept{std::move(what), is_this_homes ? home_ : home_ - 1});
  if (!is_new) return;
  said_in_order_.push_back(id);
  if (said_in_order_.size() <= said_max) return;
  said_.erase(said_in_order_.front());
  said_in_order_.pop_front();
}

void CarriedEvents::moved() {
  ++home_;
  to_come_again_ = has_;
}

}  // namespace evershard::kurrent
