#include "evershard/compat/kurrent/persistent_subscription.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace evershard::kurrent {
namespace {

constexpr std::size_t held_looked_at = 500;  ///< behind those whose consumer is busy, or whose id is out

}  // namespace

PersistentSubscription::PersistentSubscription(PersistentLimits limits, Progress progress)
    : limits_(limits), progress_(std::move(progress)), seen_(progress_.checkpoint) {}

void PersistentSubscription::Progress::park(Key key, std::string_view reason) {
  const auto [at, is_new] = parked.try_emplace(key);
  if (!is_new) reasons.remove(at->second);
  at->second = reasons.add(reason);
}

std::string_view PersistentSubscription::Progress::reason_of(Key key) const {
  const auto found = parked.find(key);
  return found == parked.end() ? std::string_view() : reasons.of(found->second);
}

bool operator==(const PersistentSubscription::Progress& a, const PersistentSubscription::Progress& b) {
  return a.checkpoint == b.checkpoint && a.settled == b.settled && a.place == b.place &&
         std::ranges::equal(a.parked, b.parked, [&](const auto& one, const auto& other) {
           return one.first == other.first && a.reasons.of(one.second) == b.reasons.of(other.second);
         });
}

std::optional<PersistentSubscription::Key> PersistentSubscription::Progress::reached() const {
  auto reached = checkpoint;
  if (!settled.empty()) reached = std::max(reached, std::optional(*settled.rbegin()));
  if (!parked.empty()) reached = std::max(reached, std::optional(parked.rbegin()->first));
  return reached;
}

void PersistentSubscription::Progress::fall_back(std::optional<Key> last) {
  checkpoint = std::min(checkpoint, last);
  settled.erase(last ? settled.upper_bound(*last) : settled.begin(), settled.end());
  const auto from = last ? parked.upper_bound(*last) : parked.begin();
  for (auto at = from; at != parked.end(); ++at) reasons.remove(at->second);
  parked.erase(from, parked.end());
}

bool PersistentSubscription::add(const Item& item) {
  looked_at(item.key);
  if (progress_.settled.contains(item.key) || progress_.parked.contains(item.key) || pending_.contains(item.key))
    return false;
  pending_.insert(item.key);
  progress_.place.add({item.position, item.id, item.key});
  make_ready(ready_, item);
  return true;
}

void PersistentSubscription::add_replayed(Item item) {
  if (!replaying_.contains(item.key)) return;
  item.retries = 0;
  make_ready(retried_, item);
}

void PersistentSubscription::make_ready(std::deque<Item>& in, const Item& item) {
  in.push_back(item);
  ready_bytes_ += item.bytes;
}

void PersistentSubscription::looked_at(Key key) {
  if (!seen_ || key > *seen_) seen_ = key;
}

bool PersistentSubscription::has_room() const {
  return ready_.size() < limits_.buffer_max && ready_bytes_ < ready_bytes_max &&
         pending_.size() + progress_.settled.size() < unsettled_max;
}

void PersistentSubscription::join(Consumer consumer, std::size_t slots) { consumers_[consumer] = {slots}; }

bool PersistentSubscription::leave(Consumer consumer) {
  consumers_.erase(consumer);
  std::vector<Item> back;
  for (auto at = out_.begin(); at != out_.end();) {
    if (at->second.consumer != consumer) {
      ++at;
      continue;
    }
    back.push_back(at->second.item);
    ready_bytes_ += at->second.item.bytes;
    out_by_id_.erase(at->second.item.id);
    at = out_.erase(at);
  }
  retried_.insert(retried_.begin(), back.begin(), back.end());
  return consumers_.empty();
}

std::optional<PersistentSubscription::Consumer> PersistentSubscription::consumer_for(const Item& item) {
  const auto free = [](const auto& entry) { return entry.second.are_free(); };
  if (consumers_.empty()) return std::nullopt;
  switch (limits_.choice) {
    case ConsumerChoice::single: {
      const auto found = std::ranges::find_if(consumers_, free);
      return found == consumers_.end() ? std::nullopt : std::optional(found->first);
    }
    case ConsumerChoice::pinned: {
      const auto whose = std::next(consumers_.begin(), static_cast<std::ptrdiff_t>(item.pin % consumers_.size()));
      return free(*whose) ? std::optional(whose->first) : std::nullopt;
    }
    case ConsumerChoice::round_robin:
      break;
  }
  auto next = consumers_.upper_bound(last_);
  for (std::size_t i = 0; i < consumers_.size(); ++i, ++next) {
    if (next == consumers_.end()) next = consumers_.begin();
    if (free(*next)) return next->first;
  }
  return std::nullopt;
}

void PersistentSubscription::give_from(std::deque<Item>& from, Time now, std::vector<Given>& given) {
  std::deque<Item> held;
  while (!from.empty() && held.size() < held_looked_at) {
    const bool same_is_out = out_by_id_.contains(from.front().id);
    const auto consumer = same_is_out ? std::nullopt : consumer_for(from.front());
    if (!consumer) {
      if (!same_is_out && limits_.choice != ConsumerChoice::pinned) break;
      held.push_back(from.front());
      from.pop_front();
      continue;
    }
    const auto item = from.front();
    from.pop_front();
    ready_bytes_ -= item.bytes;
    auto& slots = consumers_[*consumer];
    ++slots.taken;
    slots.bytes += item.bytes;
    last_ = *consumer;
    const auto until = limits_.message_timeout.count() == 0 ? Time::max() : now + limits_.message_timeout;
    out_[item.key] = {*consumer, item, now, until};
    out_by_id_[item.id] = item.key;
    given.push_back({*consumer, item});
  }
  from.insert(from.begin(), held.begin(), held.end());
}

std::vector<PersistentSubscription::Given> PersistentSubscription::give(Time now) {
  now_ = now;
  std::vector<Given> given;
  give_from(retried_, now, given);
  give_from(ready_, now, given);
  return given;
}

std::optional<PersistentSubscription::Item> PersistentSubscription::take(Consumer consumer, const EventId& id) {
  const auto found = find_out(consumer, id);
  if (found == out_.end()) return std::nullopt;
  return take_back(out_.find(found->first));
}

std::map<PersistentSubscription::Key, PersistentSubscription::Out>::const_iterator PersistentSubscription::find_out(
    Consumer consumer, const EventId& id) const {
  const auto key = out_by_id_.find(id);
  if (key == out_by_id_.end()) return out_.end();
  const auto out = out_.find(key->second);
  return out->second.consumer == consumer ? out : out_.end();
}

PersistentSubscription::Item PersistentSubscription::take_back(std::map<Key, Out>::iterator out) {
  const auto was = out->second;
  out_.erase(out);
  out_by_id_.erase(was.item.id);
  if (const auto whose = consumers_.find(was.consumer); whose != consumers_.end()) {
    --whose->second.taken;
    whose->second.bytes -= was.item.bytes;
  }
  return was.item;
}

void PersistentSubscription::settle(Key key) {
  changed_ = true;
  if (replaying_.contains(key)) gone(key);
  pending_.erase(key);
  progress_.settled.insert(key);
  trim();
}

void PersistentSubscription::gone(Key key) {
  replaying_.erase(key);
  const auto parked = progress_.parked.find(key);
  if (parked == progress_.parked.end()) return;
  progress_.reasons.remove(parked->second);
  progress_.parked.erase(parked);
  changed_ = true;
}

void PersistentSubscription::trim() {
  auto& settled = progress_.settled;
  if (const auto reached = checkpoint()) settled.erase(settled.begin(), settled.upper_bound(*reached));
}

bool PersistentSubscription::park(Key key, const std::string& reason) {
  if (replaying_.erase(key) == 0) {
    if (is_full()) return false;
    progress_.park(key, reason);
    pending_.erase(key);
    trim();
  }
  changed_ = true;
  return true;
}

void PersistentSubscription::try_again(Item item, const std::string& reason) {
  if (item.retries >= limits_.retries_max) {
    if (!park(item.key, reason)) wait(std::move(item));
    return;
  }
  ++item.retries;
  make_ready(retried_, item);
}

void PersistentSubscription::wait(Item item) {
  const auto wait = std::min(wait_most, wait_first * (1 << std::min(item.waits, 10u)));
  ++item.waits;
  ready_bytes_ += item.bytes;
  waiting_.emplace(now_ + wait, item);
}

std::optional<PersistentSubscription::Key> PersistentSubscription::acknowledge(Consumer consumer, const EventId& id) {
  const auto item = take(consumer, id);
  if (!item) return std::nullopt;
  settle(item->key);
  return item->key;
}

std::optional<PersistentSubscription::Key> PersistentSubscription::refuse_event(Consumer consumer, const EventId& id,
                                                                                Nack how, const std::string& reason) {
  const auto item = take(consumer, id);
  if (!item) return std::nullopt;
  switch (how) {
    case Nack::skip:
      settle(item->key);
      break;
    case Nack::park:
      if (!park(item->key, reason)) wait(*item);
      break;
    case Nack::retry:
      try_again(*item, reason);
      break;
  }
  return item->key;
}

bool PersistentSubscription::expire(Time now) {
  now_ = now;
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    retried_.push_back(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
  }
  std::vector<Key> late;
  for (const auto& [key, out] : out_) {
    if (out.until <= now) late.push_back(key);
  }
  for (const auto key : late) try_again(take_back(out_.find(key)), "it was not settled in time");
  return !late.empty();
}

std::vector<PersistentSubscription::Key> PersistentSubscription::replay(std::size_t most) {
  std::vector<Key> keys;
  for (const auto& [key, reason] : progress_.parked) {
    if (keys.size() >= most) break;
    if (replaying_.insert(key).second) keys.push_back(key);
  }
  return keys;
}

std::optional<PersistentSubscription::Key> PersistentSubscription::checkpoint() const {
  if (pending_.empty()) return seen_;
  return *pending_.begin() == 0 ? std::nullopt : std::optional(*pending_.begin() - 1);
}

PersistentSubscription::Progress PersistentSubscription::progress() const {
  auto progress = progress_;
  progress.checkpoint = checkpoint();
  return progress;
}

std::optional<PersistentSubscription::Time> PersistentSubscription::next_late() const {
  auto first = waiting_.empty() ? Time::max() : waiting_.begin()->first;
  for (const auto& [key, out] : out_) first = std::min(first, out.until);
  return first == Time::max() ? std::nullopt : std::optional(first);
}

std::optional<PersistentSubscription::Time> PersistentSubscription::given_at(Consumer consumer,
                                                                             const EventId& id) const {
  const auto found = find_out(consumer, id);
  return found == out_.end() ? std::nullopt : std::optional(found->second.since);
}

std::size_t PersistentSubscription::in_flight(Consumer consumer) const {
  const auto found = consumers_.find(consumer);
  return found == consumers_.end() ? 0 : found->second.taken;
}

}  // namespace evershard::kurrent
