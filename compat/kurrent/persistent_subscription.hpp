// PersistentSubscription: which event goes to which consumer, what is settled, and where to begin again. Decisions
// only.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/kept_place.hpp"
#include "evershard/protocol/kept_reasons.hpp"

namespace evershard::kurrent {

enum class ConsumerChoice : std::uint8_t { round_robin, single, pinned };

struct PersistentLimits {
  std::uint32_t retries_max = 10;
  std::chrono::milliseconds message_timeout{30'000};  ///< 0: never
  std::size_t buffer_max = 500;                       ///< events that are read and not given out
  ConsumerChoice choice = ConsumerChoice::round_robin;
};

/// At least once: what was given out and not settled is given out again. Of events that have one id, one is out at a
/// time: who settles it names the id alone. A key is a revision, or a position of `$all`:
/// keys ascend in the order in which events are read. One thread at a time; `now` never goes back.
class PersistentSubscription {
 public:
  using Key = std::uint64_t;
  using Consumer = std::uint64_t;
  using Time = std::chrono::steady_clock::time_point;
  enum class Nack : std::uint8_t { park, retry, skip };

  static constexpr std::size_t parked_max = 10'000;             ///< then what is to be parked waits, and is tried again
  static constexpr std::size_t reasons_bytes_max = 256u << 10;  ///< of all different ones: KeptReasons
  static constexpr std::chrono::milliseconds wait_first{1'000};  ///< of what waits; twice as long each time
  static constexpr std::chrono::milliseconds wait_most{60'000};
  static constexpr std::size_t unsettled_max = 10'000;       ///< keys kept behind the checkpoint; then nothing is read
  static constexpr std::size_t ready_bytes_max = 16u << 20;  ///< of events that are not out; then nothing is read
  static constexpr std::size_t consumer_bytes_max = 16u << 20;  ///< of what a consumer has; then it is given nothing

  struct Item {
    Key key = 0;
    EventId id{};           ///< as consumers name it
    std::uint64_t pin = 0;  ///< of pinned ones: what has the same goes to the same consumer
    std::uint32_t retries = 0;
    std::size_t bytes = 0;  ///< what it takes in memory
    GlobalPosition position{};
    std::uint32_t waits = 0;  ///< for room among the parked ones
  };
  struct Given {
    Consumer consumer = 0;
    Item item{};
  };
  struct Progress {
    std::optional<Key> checkpoint{};
    std::set<Key> settled{};                  ///< behind it
    std::map<Key, KeptReasons::Id> parked{};  ///< with why
    KeptReasons reasons{reasons_bytes_max};
    KeptPlace place{};  ///< of which history all that is
    void park(Key key, std::string_view reason);
    [[nodiscard]] std::string_view reason_of(Key key) const;
    /// The greatest key that anything is kept of. Absent: of none.
    [[nodiscard]] std::optional<Key> reached() const;
    /// What is kept of keys behind this one is of another history, and goes. Absent: all.
    void fall_back(std::optional<Key> last);
    friend bool operator==(const Progress& a, const Progress& b);
  };

  PersistentSubscription(PersistentLimits limits, Progress progress);

  void change(PersistentLimits limits) { limits_ = limits; }
  /// An event was read. Returns: it is to be given out: not settled, not parked.
  bool add(const Item& item);
  /// A parked event, read again because it is to be replayed.
  void add_replayed(Item item);
  /// Everything up to here was read, and what of it was not added is none of ours.
  void looked_at(Key key);
  [[nodiscard]] bool has_room() const;

  void join(Consumer consumer, std::size_t slots);
  /// What it had is given to others, and that was no attempt. Returns: nobody is left.
  bool leave(Consumer consumer);
  [[nodiscard]] std::vector<Given> give(Time now);
  /// Returns: whose it is and now settled; absent: it is not that consumer's (any more).
  std::optional<Key> acknowledge(Consumer consumer, const EventId& id);
  /// Returns: absent: it is not that consumer's.
  std::optional<Key> refuse_event(Consumer consumer, const EventId& id, Nack how, const std::string& reason);
  /// What was not settled in time is tried again, or parked. Returns: whether there was any.
  bool expire(Time now);
  /// The first parked ones, to be read again and added; they stay parked until they are settled. What cannot be read
  /// now is given back by not_replayed(), and what is not there any more by gone().
  [[nodiscard]] std::vector<Key> replay(std::size_t most);
  void not_replayed(Key key) { replaying_.erase(key); }
  /// The event of a parked one is not there any more: nothing is left to be done.
  void gone(Key key);
  /// No more can be parked.
  [[nodiscard]] bool is_full() const { return progress_.parked.size() >= parked_max; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// Everything that was looked at is settled, or parked.
  [[nodiscard]] bool is_through() const { return pending_.empty(); }

  [[nodiscard]] Progress progress() const;
  /// Since the last time it was asked, something changed that must outlive the process.
  [[nodiscard]] bool take_changed() { return std::exchange(changed_, false); }
  [[nodiscard]] bool is_changed() const { return changed_; }
  void changed_again() { changed_ = true; }  ///< it could not be kept
  [[nodiscard]] std::size_t ready() const { return ready_.size() + retried_.size(); }
  [[nodiscard]] std::size_t retried() const { return retried_.size(); }
  [[nodiscard]] std::size_t in_flight() const { return out_.size(); }
  [[nodiscard]] std::size_t in_flight(Consumer consumer) const;
  /// Since when this consumer has it. Absent: it is not that consumer's.
  [[nodiscard]] std::optional<Time> given_at(Consumer consumer, const EventId& id) const;
  /// When the first of those that are out is late. Absent: none ever is.
  [[nodiscard]] std::optional<Time> next_late() const;
  [[nodiscard]] std::size_t parked() const { return progress_.parked.size() - replaying_.size(); }
  [[nodiscard]] std::size_t consumers() const { return consumers_.size(); }
  [[nodiscard]] std::optional<Key> seen() const { return seen_; }
  [[nodiscard]] std::optional<Key> checkpoint() const;
  /// Whether what is kept of this event is wanted any more.
  [[nodiscard]] bool is_held(Key key) const { return pending_.contains(key) || replaying_.contains(key); }

 private:
  struct Out {
    Consumer consumer = 0;
    Item item{};
    Time since{};
    Time until{};
  };
  void settle(Key key);
  /// What the checkpoint says is not said twice.
  void trim();
  void try_again(Item item, const std::string& reason);
  bool park(Key key, const std::string& reason);
  /// There is no room to park it: later again.
  void wait(Item item);
  std::optional<Item> take(Consumer consumer, const EventId& id);
  [[nodiscard]] std::map<Key, Out>::const_iterator find_out(Consumer consumer, const EventId& id) const;
  std::optional<Consumer> consumer_for(const Item& item);
  void give_from(std::deque<Item>& from, Time now, std::vector<Given>& given);
  void make_ready(std::deque<Item>& in, const Item& item);
  /// It is not out any more. Returns: what was.
  Item take_back(std::map<Key, Out>::iterator out);

  PersistentLimits limits_;
  std::deque<Item> ready_, retried_;
  std::size_t ready_bytes_ = 0;  ///< of both
  std::map<Key, Out> out_;
  std::unordered_map<EventId, Key> out_by_id_;  ///< of out_: consumers name what they settle by ids alone
  std::set<Key> pending_;                       ///< read, and neither settled nor parked
  Progress progress_;                           ///< as it is kept, but for its checkpoint
  std::set<Key> replaying_;                     ///< of the parked ones
  std::multimap<Time, Item> waiting_;
  std::optional<Key> seen_;
  struct Slots {
    std::size_t all = 0, taken = 0, bytes = 0;
    [[nodiscard]] bool are_free() const { return taken < all && (taken == 0 || bytes < consumer_bytes_max); }
  };
  std::map<Consumer, Slots> consumers_;
  Consumer last_ = 0;  ///< who was given something last
  bool changed_ = false;
  Time now_{};  ///< as last told
};

}  // namespace evershard::kurrent
