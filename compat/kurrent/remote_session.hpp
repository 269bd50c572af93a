// RemoteSession: a consumer at this node's door, of a subscription whose home is another node.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "evershard/compat/kurrent/home_calls.hpp"
#include "evershard/doors/serving/homes.hpp"

namespace evershard::kurrent {

/// One call for events is with the home at a time, and one that settles: what is settled meanwhile goes with the next.
/// No thread waits for either. Whatever fails, the consumer is told that it moved: then he joins again, and what the
/// home did not hear comes again. Any thread. Owner: `homes` outlives leave().
class RemoteSession final : public PersistentSession, public std::enable_shared_from_this<RemoteSession> {
 public:
  RemoteSession(serving::Homes& homes, SubscriptionName name, std::weak_ptr<PersistentConsumer> consumer,
                PersistentConsumer::Told told, std::function<std::uint64_t()> rewritten);
  ~RemoteSession() override { leave(); }

  void start() override;
  void leave() override;
  void acknowledge(const std::vector<EventId>& ids) override { say(homes::Settle::ACKNOWLEDGE, ids, {}); }
  void refuse_events(const std::vector<EventId>& ids, PersistentSubscription::Nack how,
                     const std::string& reason) override;

 private:
  enum class State : std::uint8_t { joining, here, gone };
  void has_joined(Result<std::string> reply);
  void take();
  void has_taken(Result<std::string> reply, std::uint64_t read_at);
  void say(homes::Settle::How how, const std::vector<EventId>& ids, const std::string& reason);
  void settle();
  /// Nobody waits for the answer.
  void say_goodbye(homes::Settle last);
  /// Returns: it had not gone yet.
  bool go();
  void end(const Dropped& how);

  serving::Homes& homes_;
  const SubscriptionName name_;
  const AggregateId kept_in_;
  const std::weak_ptr<PersistentConsumer> consumer_;
  const PersistentConsumer::Told told_;
  const std::function<std::uint64_t()> rewritten_;  ///< Served::rewritten
  std::mutex mutex_;
  State state_ = State::joining;
  std::uint64_t session_ = 0;
  homes::Settle unsaid_;
  bool settling_ = false;
};

}  // namespace evershard::kurrent
