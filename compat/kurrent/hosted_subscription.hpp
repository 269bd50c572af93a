// HostedSubscription: one persistent subscription where it runs: read while somebody consumes, and kept in the store.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "evershard/compat/kurrent/consumer_latencies.hpp"
#include "evershard/compat/kurrent/kept_subscription.hpp"
#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/compat/kurrent/persistent_subscriptions.hpp"

namespace evershard::kurrent {

class Reading;

/// Nothing of it runs while it has no consumers; while it has, no thread is its own, and nothing looks at it until an
/// event that it reads may be there, or what is out is late, or what was settled is to be kept. What waits in the watch
/// is waited for only while a consumer's call is under way. Any thread.
class HostedSubscription : public std::enable_shared_from_this<HostedSubscription> {
 public:
  using Consumer = PersistentSubscription::Consumer;
  using Joined = PersistentSubscriptions::Joined;
  /// Writes a snapshot of its aggregate, as long as it runs here.
  using Keep = std::function<Result<void>(Snapshot)>;

  HostedSubscription(Kurrent& kurrent, AggregateId kept_in, KeptSubscription kept, Keep keep);
  ~HostedSubscription();

  [[nodiscard]] const esps::KeptDefinition& definition() const { return definition_; }
  [[nodiscard]] SeqNr version() const { return version_; }
  /// Refused where they are too many.
  [[nodiscard]] Joined join(const std::shared_ptr<PersistentConsumer>& consumer, PersistentConsumer::Told told);
  /// Durable on return. In a thread that may wait. Errors: those of reading
  [[nodiscard]] Result<void> replay(std::size_t most);
  /// The first parked ones are settled as they are; those that are being replayed are not among them. In a thread that
  /// may wait: it is kept, where it may be.
  void truncate_parked(std::size_t most);
  void put_info(esps::SubscriptionInfo& to);
  /// For good: its consumers are dropped, and how far it is is kept, where it still may. In a thread that may wait.
  /// Returns: how far it is; absent: nothing was ever settled.
  std::optional<PersistentSubscription::Progress> end(const Dropped& how);

  // What a session asks.
  void start(Consumer consumer);
  /// After it, no watch calls: where it was the last, nothing is waited for.
  void leave(Consumer consumer);
  void acknowledge(Consumer consumer, const std::vector<EventId>& ids);
  void refuse_events(Consumer consumer, const std::vector<EventId>& ids, PersistentSubscription::Nack how,
                     const std::string& reason);

 private:
  using Clock = std::chrono::steady_clock;
  struct Here {
    std::weak_ptr<PersistentConsumer> consumer{};
    PersistentConsumer::Told told{};
    std::int64_t given = 0;
    std::optional<ConsumerLatencies> latencies{};  ///< where they are asked for
  };
  struct Held {
    esps::ReadResp response{};
    std::uint64_t read_at = 0;  ///< rewritten(), before it was read
  };
  /// For the next step to give.
  struct Chosen {
    std::weak_ptr<PersistentConsumer> consumer{};
    Consumer number = 0;
    PersistentSubscription::Key key = 0;
    EventId id{};
    Held held{};
  };
  [[nodiscard]] const esps::GroupOptions& options() const { return definition_.options(); }
  void pump();
  void step();
  /// Returns: there may be more at once.
  bool read_on();
  /// `read_at`: rewritten(), before they were read.
  void take_in(std::vector<esp::ReadResp>& messages, std::uint64_t read_at);
  /// The event of that key, as the store has it now. Absent: it has none. Errors: it could not be read
  [[nodiscard]] Result<std::optional<Held>> read_one(PersistentSubscription::Key key);
  void await_news(GlobalPosition seen);
  /// Another number each time events were removed or erased.
  [[nodiscard]] std::uint64_t rewritten() const { return kurrent_.calls.served.rewritten(); }
  /// It was read before something was removed or erased. Returns: it is there, and as it is now; else it is settled:
  /// there is nothing to give. Errors: it could not be read
  [[nodiscard]] Result<bool> look_again(Chosen& chosen);
  /// What goes next where there is room, each time there is: the order does not depend on how much is settled between
  /// two steps. Under the mutex.
  void choose();
  void give();
  /// `finally`: also where it has ended.
  void keep(bool at_once, bool finally = false);
  /// When something is due though nothing happens. Absent: never. Under the mutex.
  [[nodiscard]] std::optional<Clock::time_point> due() const;
  void look_later();
  void drop_all(const Dropped& how);
  /// Absent: it is given again, or gone. Else it could not be read.
  [[nodiscard]] std::optional<Error> replay_one(PersistentSubscription::Key key);
  /// It has looked further than what is kept says, and nothing was settled. Under the mutex.
  [[nodiscard]] bool looked_on() const;
  /// When the next state may be kept. Under the mutex.
  [[nodiscard]] Clock::time_point keeps_at(bool at_once) const;
  /// Under the mutex.
  void say_full();
  /// It is about to be settled. Under the mutex.
  void measure(Consumer consumer, const EventId& id);
  [[nodiscard]] PersistentSubscription::Key key_of(const esps::ReadResp::ReadEvent& event) const;
  [[nodiscard]] std::optional<PersistentSubscription::Item> item_of(const esps::ReadResp::ReadEvent& event) const;

  Kurrent& kurrent_;
  const AggregateId kept_in_;
  const SeqNr version_;
  const esps::KeptDefinition definition_;
  const Keep keep_;
  std::mutex keeping_;  ///< one write at a time, in the order in which they were made
  std::mutex mutex_;
  PersistentSubscription queue_;
  std::unordered_map<PersistentSubscription::Key, Held> events_;
  std::map<Consumer, Here> consumers_;
  Consumer last_consumer_ = 0;
  std::vector<Chosen> chosen_;        ///< for the next step to give
  std::unique_ptr<Reading> reading_;  ///< of the pump alone

  bool idle_waits_ = false;
  serving::HeadWatch::Ticket news_ = 0, later_ = 0;
  bool later_waits_ = false;
  Clock::time_point later_at_{};
  bool pumping_ = false, pump_again_ = false;
  bool keep_now_ = false;
  bool ended_ = false;
  bool began_ = false;  ///< something was settled, or parked, ever
  std::int64_t given_ = 0;
  std::int64_t settled_unkept_ = 0;
  std::optional<PersistentSubscription::Key> kept_;
  Clock::time_point kept_at_{};
  std::chrono::milliseconds pace_{0};  ///< of the last state that was kept: so long until the next
  bool said_full_ = false;
};

/// What a read finds, to its end. In a thread that may wait.
[[nodiscard]] std::variant<std::vector<esp::ReadResp>, Refusal> read_to_end(Kurrent& kurrent,
                                                                            const esp::ReadReq& request);

}  // namespace evershard::kurrent
