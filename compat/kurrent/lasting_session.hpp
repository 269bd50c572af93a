// LastingSession: a consumer's session with a subscription that may get another home: he need not know.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "evershard/compat/kurrent/carried_events.hpp"
#include "evershard/compat/kurrent/persistent_subscriptions.hpp"
#include "evershard/doors/serving/served.hpp"

namespace evershard::kurrent {

/// Joins where the home is, and again where it is then; between two homes nobody gives him anything, and what he says
/// is remembered. Who has had no home for long is told so. Any thread. Owner: what is served outlives leave().
class LastingSession final : public PersistentSession,
                             public PersistentConsumer,
                             public std::enable_shared_from_this<LastingSession> {
 public:
  /// Of the home of now, for the consumer given. In a thread that may wait, for a moment.
  using Join = std::function<PersistentSubscriptions::Joined(const std::shared_ptr<PersistentConsumer>&)>;

  LastingSession(serving::Served& served, std::weak_ptr<PersistentConsumer> consumer, Join join)
      : served_(served), consumer_(std::move(consumer)), join_(std::move(join)) {}
  ~LastingSession() override { leave(); }

  void start() override;
  void leave() override;
  void acknowledge(const std::vector<EventId>& ids) override;
  void refuse_events(const std::vector<EventId>& ids, PersistentSubscription::Nack how,
                     const std::string& reason) override;

  void joined() override;
  void give(esps::ReadResp event, std::uint64_t read_at) override;
  void drop(const Dropped& how) override;

 private:
  using Clock = std::chrono::steady_clock;
  void try_to_join();
  void try_later(const Refusal& why);
  void say(const std::vector<EventId>& ids, const CarriedEvents::Said& what);

  serving::Served& served_;
  const std::weak_ptr<PersistentConsumer> consumer_;
  const Join join_;
  std::mutex mutex_;
  std::shared_ptr<PersistentSession> session_;
  CarriedEvents carried_;
  bool known_ = false;  ///< the consumer knows that he has joined
  bool here_ = false;   ///< in a home
  bool left_ = false;
  Clock::time_point away_since_ = Clock::now();
  std::chrono::milliseconds pause_{0};
  serving::HeadWatch::Ticket trying_ = 0;
};

}  // namespace evershard::kurrent
