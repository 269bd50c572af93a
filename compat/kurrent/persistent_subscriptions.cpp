#include "evershard/compat/kurrent/persistent_subscriptions.hpp"

#include <utility>

namespace evershard::kurrent {

Refusal subscription_failed(Error error) {
  Refusal refusal;
  refusal.error = std::move(error);
  return refusal;
}

Refusal subscription_absent(const SubscriptionName& name) {
  return refused_of_group("persistent-subscription-does-not-exist", name.stream, name.group, ErrorCode::not_found,
                          "Subscription group " + name.group + " on stream " + name.stream +
                              " does not exist.");  // tests of clients know it
}

Refusal subscription_dropped(const SubscriptionName& name, std::string why) {
  return refused_of_group("persistent-subscription-dropped", name.stream, name.group, ErrorCode::unavailable,
                          std::move(why));
}

}  // namespace evershard::kurrent
