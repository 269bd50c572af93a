// PersistentHost: the persistent subscriptions that run in this process: all of a store's, or those at home here.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "evershard/compat/kurrent/hosted_subscription.hpp"
#include "evershard/doors/serving/homes.hpp"

namespace evershard::kurrent {

/// Each is loaded when it is asked for first, and loaded anew where this process was not its home for a while: what
/// another home wrote meanwhile counts. Everything it writes it writes as the home it was when it loaded: the
/// definition where it is still the version that was read, how far it is under its term.
class PersistentHost final : public PersistentSubscriptions {
 public:
  using Found = std::variant<std::shared_ptr<HostedSubscription>, Refusal>;

  /// `homes`: null: this process is the whole store. Owner: both outlive it.
  PersistentHost(Kurrent& kurrent, serving::Homes* homes) : kurrent_(kurrent), homes_(homes) {}

  [[nodiscard]] Done create(const esps::GroupOptions& options) override;
  [[nodiscard]] Done update(const esps::GroupOptions& options) override;
  [[nodiscard]] Done remove(const SubscriptionName& name) override;
  [[nodiscard]] Done info(const SubscriptionName& name, esps::SubscriptionInfo& to) override;
  [[nodiscard]] Done replay(const SubscriptionName& name, std::size_t most) override;
  [[nodiscard]] Done truncate_parked(const SubscriptionName& name, std::size_t most) override;
  /// All of the store's: for a process that is the whole store.
  [[nodiscard]] Listed list(const std::optional<std::string>& stream) override;
  [[nodiscard]] Done restart() override;
  [[nodiscard]] Joined join(const SubscriptionName& name, const std::shared_ptr<PersistentConsumer>& consumer,
                            PersistentConsumer::Told told) override;

  /// One of them begins anew.
  [[nodiscard]] Done restart(const SubscriptionName& name);
  /// Lets go of those that are not at home here any more: their consumers are told that they moved.
  void look_at_homes();
  /// All of them are kept and end. Any number of times.
  void stop(const Dropped& how);

 private:
  struct Hosted {
    std::uint64_t term = 0;
    SeqNr version{};  ///< of its aggregate; 0: it was never there
    std::shared_ptr<HostedSubscription> subscription{};
  };
  using Looked = std::variant<Hosted, Refusal>;

  /// Of one name one after the other: a change, and a load.
  [[nodiscard]] std::mutex& changing(const SubscriptionName& name);
  /// As it is now; `subscription` is null where there is none. Under changing().
  [[nodiscard]] Looked look_up(const SubscriptionName& name);
  [[nodiscard]] Found find(const SubscriptionName& name);
  void put(const SubscriptionName& name, Hosted hosted);
  [[nodiscard]] Hosted hosted_as(std::uint64_t term, const AggregateId& kept_in, KeptSubscription kept);
  /// Absent: with the first event.
  [[nodiscard]] std::variant<std::optional<std::uint64_t>, Refusal> start_of(const esps::GroupOptions& options);

  [[nodiscard]] Result<std::string> fork();

  Kurrent& kurrent_;
  serving::Homes* const homes_;
  std::string fork_;  ///< of the store; empty: nobody asked yet. Under mutex_
  std::array<std::mutex, 16> changing_{};
  std::mutex mutex_;
  bool stopped_ = false;
  std::map<SubscriptionName, Hosted> hosted_;
};

/// The names of those that the store may have: some of them were deleted. Errors: those of reading
[[nodiscard]] Result<std::vector<SubscriptionName>> names_kept(EventStore& events);

}  // namespace evershard::kurrent
