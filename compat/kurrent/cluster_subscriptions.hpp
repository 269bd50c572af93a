// ClusterSubscriptions: the persistent subscriptions of a cluster, from any of its nodes.

#pragma once

#include <chrono>
#include <memory>

#include "evershard/compat/kurrent/persistent_home.hpp"

namespace evershard::kurrent {

/// Each runs at its home, the node that owns the shard of the aggregate it is kept in: what is asked of it goes there,
/// and a consumer stays where he is while the home moves.
class ClusterSubscriptions final : public PersistentSubscriptions {
 public:
  /// `home`: of this node. Owner: `served` and `homes` outlive it.
  ClusterSubscriptions(serving::Served& served, serving::Homes& homes, std::shared_ptr<PersistentHome> home)
      : served_(served), homes_(homes), home_(std::move(home)) {}

  [[nodiscard]] Done create(const esps::GroupOptions& options) override;
  [[nodiscard]] Done update(const esps::GroupOptions& options) override;
  [[nodiscard]] Done remove(const SubscriptionName& name) override;
  [[nodiscard]] Done info(const SubscriptionName& name, esps::SubscriptionInfo& to) override;
  [[nodiscard]] Done replay(const SubscriptionName& name, std::size_t most) override;
  [[nodiscard]] Done truncate_parked(const SubscriptionName& name, std::size_t most) override;
  [[nodiscard]] Listed list(const std::optional<std::string>& stream) override;
  [[nodiscard]] Done restart() override;
  [[nodiscard]] Joined join(const SubscriptionName& name, const std::shared_ptr<PersistentConsumer>& consumer,
                            PersistentConsumer::Told told) override;

 private:
  using Asked = std::variant<Answer, Refusal>;
  [[nodiscard]] Asked ask(const char* method, const SubscriptionName& name, const std::string& request,
                          bool may_repeat);
  /// What changes something: this node has read as much as the home when it comes back.
  [[nodiscard]] Done change(const char* method, const SubscriptionName& name, const std::string& request);
  [[nodiscard]] Done named(const char* method, const SubscriptionName& name, std::size_t most = 0);

  serving::Served& served_;
  serving::Homes& homes_;
  const std::shared_ptr<PersistentHome> home_;
};

}  // namespace evershard::kurrent
