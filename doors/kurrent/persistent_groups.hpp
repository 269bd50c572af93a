// PersistentGroups: the persistent subscriptions of a store: read while somebody consumes, and kept in the store.

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
#include <utility>
#include <vector>

#include "evershard/doors/kurrent/kurrent.hpp"
#include "evershard/doors/kurrent/persistent_subscription.hpp"
#include "evershard/doors/kurrent/refusals.hpp"
#include "evershard/kurrent/persistent.pb.h"

namespace evershard::kurrent {

namespace esps = ::event_store::client::persistent_subscriptions;

class Reading;

/// Of whom it is, and what he is told. Its functions are called from any thread; they must not block.
class PersistentConsumer {
 public:
  struct Told {
    std::string from{}, user{}, connection{};
    std::size_t slots = 1;
  };
  virtual ~PersistentConsumer() = default;
  virtual void give(esps::ReadResp event) = 0;
  /// There is nothing more.
  virtual void drop(const Refusal& why) = 0;
};

/// One of them. Nothing of it runs while it has no consumers; while it has, no thread is its own. What waits in the
/// watch is waited for only while a consumer's call is under way. Any thread.
class HostedSubscription : public std::enable_shared_from_this<HostedSubscription> {
 public:
  using Consumer = PersistentSubscription::Consumer;

  HostedSubscription(Kurrent& kurrent, AggregateId kept_in, SeqNr version, esps::KeptDefinition definition,
                     PersistentSubscription::Progress progress);
  ~HostedSubscription();

  [[nodiscard]] const esps::GroupOptions& options() const { return definition_.options(); }
  [[nodiscard]] const esps::KeptDefinition& definition() const { return definition_; }
  [[nodiscard]] SeqNr version() const { return version_; }
  /// Empty where they are too many.
  [[nodiscard]] std::variant<Consumer, Refusal> join(const std::shared_ptr<PersistentConsumer>& consumer,
                                                     PersistentConsumer::Told told);
  void start() { pump(); }
  /// After it, no watch calls: where it was the last, nothing is waited for.
  void leave(Consumer consumer);
  void acknowledge(Consumer consumer, const std::vector<EventId>& ids);
  void refuse_events(Consumer consumer, const std::vector<EventId>& ids, PersistentSubscription::Nack how,
                     const std::string& reason);
  /// Durable on return. In a thread that may wait. Errors: those of reading
  [[nodiscard]] Result<void> replay(std::size_t most);
  void put_info(esps::SubscriptionInfo& to);
  /// For good. Returns: how far it is.
  PersistentSubscription::Progress end(const Refusal& why);

 private:
  struct Here {
    std::weak_ptr<PersistentConsumer> consumer{};
    PersistentConsumer::Told told{};
    std::int64_t given = 0;
  };
  void pump();
  void step();
  /// Returns: there may be more at once.
  bool read_on();
  void give();
  void keep(bool at_once);
  void look_later();
  void drop_all(const Refusal& why);
  [[nodiscard]] PersistentSubscription::Key key_of(const esps::ReadResp::ReadEvent& event) const;
  [[nodiscard]] std::optional<PersistentSubscription::Item> item_of(const esps::ReadResp::ReadEvent& event) const;
  [[nodiscard]] std::string shown_place(std::optional<std::uint64_t> key) const;

  Kurrent& kurrent_;
  const AggregateId kept_in_;
  const SeqNr version_;
  const esps::KeptDefinition definition_;
  std::mutex keeping_;  ///< one write at a time, in the order in which they were made
  std::mutex mutex_;
  PersistentSubscription queue_;
  std::unordered_map<PersistentSubscription::Key, esps::ReadResp> events_;
  std::map<Consumer, Here> consumers_;
  Consumer last_consumer_ = 0;
  std::unique_ptr<Reading> reading_;  ///< of the pump alone

  bool idle_waits_ = false;
  serving::HeadWatch::Ticket news_ = 0, later_ = 0;
  bool later_waits_ = false;
  bool pumping_ = false, pump_again_ = false;
  bool keep_now_ = false;
  bool ended_ = false;
  std::int64_t given_ = 0;
  std::int64_t settled_unkept_ = 0;
  std::optional<PersistentSubscription::Key> kept_;
  std::chrono::steady_clock::time_point kept_at_{};
};

/// All of them. Loaded when one is asked for first. In threads that may wait.
class PersistentGroups {
 public:
  using Found = std::variant<std::shared_ptr<HostedSubscription>, Refusal>;
  using Done = std::optional<Refusal>;

  explicit PersistentGroups(Kurrent& kurrent) : kurrent_(kurrent) {}

  [[nodiscard]] Done create(const esps::GroupOptions& options);
  [[nodiscard]] Done update(const esps::GroupOptions& options);
  [[nodiscard]] Done remove(const std::string& stream, const std::string& group);
  [[nodiscard]] Found find(const std::string& stream, const std::string& group);
  /// Absent: of all streams.
  [[nodiscard]] std::variant<std::vector<std::shared_ptr<HostedSubscription>>, Refusal> list(
      const std::optional<std::string>& stream);
  /// Everybody has to come again.
  [[nodiscard]] Done restart();

 private:
  using Name = std::pair<std::string, std::string>;  ///< stream (`$all`), group
  Result<void> load();
  Result<SeqNr> write(const AggregateId& in, std::string type, const esps::KeptDefinition& definition,
                      ExpectedVersion expected);

  Kurrent& kurrent_;
  std::mutex mutex_;
  bool loaded_ = false;
  std::map<Name, std::shared_ptr<HostedSubscription>> hosted_;
};

/// The stream that options name, `$all` for all.
[[nodiscard]] std::string stream_of(const esps::GroupOptions& options);

}  // namespace evershard::kurrent
