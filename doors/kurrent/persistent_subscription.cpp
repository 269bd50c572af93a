#include "evershard/doors/kurrent/persistent_subscription.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace evershard::kurrent {
namespace {

constexpr std::size_t pins_looked_at = 500;  ///< behind those whose consumer is busy

}  // namespace

PersistentSubscription::PersistentSubscription(PersistentLimits limits, Progress progress)
    : limits_(limits),
      settled_(std::move(progress.settled)),
      parked_(std::move(progress.parked)),
      seen_(progress.checkpoint) {}

bool PersistentSubscription::add(const Item& item) {
  looked_at(item.key);
  if (settled_.contains(item.key) || parked_.contains(item.key) || pending_.contains(item.key)) return false;
  pending_.insert(item.key);
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
         pending_.size() + settled_.size() < unsettled_max;
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
  while (!from.empty() && held.size() < pins_looked_at) {
    const auto consumer = consumer_for(from.front());
    if (!consumer) {
      if (limits_.choice != ConsumerChoice::pinned) break;
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
    given.push_back({*consumer, item});
  }
  from.insert(from.begin(), held.begin(), held.end());
}

std::vector<PersistentSubscription::Given> PersistentSubscription::give(Time now) {
  std::vector<Given> given;
  give_from(retried_, now, given);
  give_from(ready_, now, given);
  return given;
}

std::optional<PersistentSubscription::Item> PersistentSubscription::take(Consumer consumer, const EventId& id) {
  const auto found = std::ranges::find_if(
      out_, [&](const auto& entry) { return entry.second.consumer == consumer && entry.second.item.id == id; });
  if (found == out_.end()) return std::nullopt;
  return take_back(found);
}

PersistentSubscription::Item PersistentSubscription::take_back(std::map<Key, Out>::iterator out) {
  const auto was = out->second;
  out_.erase(out);
  if (const auto whose = consumers_.find(was.consumer); whose != consumers_.end()) {
    --whose->second.taken;
    whose->second.bytes -= was.item.bytes;
  }
  return was.item;
}

void PersistentSubscription::settle(Key key) {
  changed_ = true;
  if (replaying_.erase(key) != 0) parked_.erase(key);
  pending_.erase(key);
  settled_.insert(key);
  trim();
}

void PersistentSubscription::trim() {
  if (const auto reached = checkpoint()) settled_.erase(settled_.begin(), settled_.upper_bound(*reached));
}

bool PersistentSubscription::park(Key key, const std::string& reason) {
  if (replaying_.erase(key) == 0) {
    if (parked_.size() >= parked_max) return false;
    parked_[key] = reason.substr(0, 500);
    pending_.erase(key);
    trim();
  }
  changed_ = true;
  return true;
}

void PersistentSubscription::try_again(Item item, const std::string& reason) {
  if (item.retries >= limits_.retries_max && park(item.key, reason)) return;
  ++item.retries;
  make_ready(retried_, item);
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
      if (!park(item->key, reason)) make_ready(retried_, *item);
      break;
    case Nack::retry:
      try_again(*item, reason);
      break;
  }
  return item->key;
}

bool PersistentSubscription::expire(Time now) {
  std::vector<Key> late;
  for (const auto& [key, out] : out_) {
    if (out.until <= now) late.push_back(key);
  }
  for (const auto key : late) try_again(take_back(out_.find(key)), "it was not settled in time");
  return !late.empty();
}

std::vector<PersistentSubscription::Key> PersistentSubscription::replay(std::size_t most) {
  std::vector<Key> keys;
  for (const auto& [key, reason] : parked_) {
    if (keys.size() >= most) break;
    if (replaying_.insert(key).second) keys.push_back(key);
  }
  return keys;
}

std::optional<PersistentSubscription::Key> PersistentSubscription::checkpoint() const {
  if (pending_.empty()) return seen_;
  return *pending_.begin() == 0 ? std::nullopt : std::optional(*pending_.begin() - 1);
}

PersistentSubscription::Progress PersistentSubscription::progress() const { return {checkpoint(), settled_, parked_}; }

std::optional<PersistentSubscription::Time> PersistentSubscription::next_late() const {
  auto first = Time::max();
  for (const auto& [key, out] : out_) first = std::min(first, out.until);
  return first == Time::max() ? std::nullopt : std::optional(first);
}

std::optional<PersistentSubscription::Time> PersistentSubscription::given_at(Consumer consumer,
                                                                             const EventId& id) const {
  const auto found = std::ranges::find_if(
      out_, [&](const auto& entry) { return entry.second.consumer == consumer && entry.second.item.id == id; });
  return found == out_.end() ? std::nullopt : std::optional(found->second.since);
}

std::size_t PersistentSubscription::in_flight(Consumer consumer) const {
  const auto found = consumers_.find(consumer);
  return found == consumers_.end() ? 0 : found->second.taken;
}

}  // namespace evershard::kurrent
