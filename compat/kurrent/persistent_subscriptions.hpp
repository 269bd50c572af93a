// PersistentSubscriptions: the persistent subscriptions of a store, as its door asks for them, wherever they run.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evershard/compat/kurrent/persistent_options.hpp"
#include "evershard/compat/kurrent/persistent_subscription.hpp"
#include "evershard/compat/kurrent/refusals.hpp"

namespace evershard::kurrent {

/// Why a consumer has nothing more to expect.
struct Dropped {
  Refusal why{};
  bool moved = false;  ///< it runs, or soon will, somewhere else: he may join again
};

/// Whom a subscription gives events. Its functions are called from any thread; they must not block.
class PersistentConsumer {
 public:
  /// What he says of himself, and is shown.
  struct Told {
    std::string from{}, user{}, connection{};
    std::size_t slots = 1;
  };
  virtual ~PersistentConsumer() = default;
  /// Before the first event.
  virtual void joined() = 0;
  /// `read_at`: Served::rewritten of this process, before the event was read: where that has moved, it is looked at
  /// again before it goes out.
  virtual void give(esps::ReadResp event, std::uint64_t read_at) = 0;
  /// There is nothing more, unless he joins again.
  virtual void drop(const Dropped& how) = 0;
};

/// A consumer's side of it. Any thread.
class PersistentSession {
 public:
  virtual ~PersistentSession() = default;
  /// Once. From here on he is told.
  virtual void start() = 0;
  /// What he has is given to others. Any number of times.
  virtual void leave() = 0;
  virtual void acknowledge(const std::vector<EventId>& ids) = 0;
  virtual void refuse_events(const std::vector<EventId>& ids, PersistentSubscription::Nack how,
                             const std::string& reason) = 0;
};

/// In threads that may wait.
class PersistentSubscriptions {
 public:
  using Done = std::optional<Refusal>;
  using Joined = std::variant<std::shared_ptr<PersistentSession>, Refusal>;
  using Listed = std::variant<std::vector<esps::SubscriptionInfo>, Refusal>;

  virtual ~PersistentSubscriptions() = default;
  [[nodiscard]] virtual Done create(const esps::GroupOptions& options) = 0;
  /// Its consumers have to come again. Its place stays, unless nothing was settled yet and it is to begin elsewhere.
  [[nodiscard]] virtual Done update(const esps::GroupOptions& options) = 0;
  [[nodiscard]] virtual Done remove(const SubscriptionName& name) = 0;
  [[nodiscard]] virtual Done info(const SubscriptionName& name, esps::SubscriptionInfo& to) = 0;
  [[nodiscard]] virtual Done replay(const SubscriptionName& name, std::size_t most) = 0;
  /// The first parked ones are settled as they are.
  [[nodiscard]] virtual Done truncate_parked(const SubscriptionName& name, std::size_t most) = 0;
  /// Absent: of all streams.
  [[nodiscard]] virtual Listed list(const std::optional<std::string>& stream) = 0;
  /// Everybody has to come again.
  [[nodiscard]] virtual Done restart() = 0;
  /// The session holds the consumer weakly, and is held by him.
  [[nodiscard]] virtual Joined join(const SubscriptionName& name, const std::shared_ptr<PersistentConsumer>& consumer,
                                    PersistentConsumer::Told told) = 0;
};

[[nodiscard]] Refusal subscription_absent(const SubscriptionName& name);
[[nodiscard]] Refusal subscription_dropped(const SubscriptionName& name, std::string why);
[[nodiscard]] Refusal subscription_failed(Error error);

}  // namespace evershard::kurrent
