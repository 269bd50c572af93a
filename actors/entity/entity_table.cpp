#include "evershard/actors/entity/entity_table.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {

EntityTable::EntityTable(Options options)
    : options_(options),
      share_(options.recent_ids_max, options.seed),
      idle_(std::max<std::size_t>(1, options.live_max * 4 / 5)) {}

Result<void> EntityTable::host(HostedKind kind) {
  const std::string type(kind.kind->type());
  EVERSHARD_TRY(AggregateId::check({type, "any"}));
  if (!kinds_.emplace(type, std::make_unique<HostedKind>(std::move(kind))).second) {
    return refuse(ErrorCode::invalid_argument, "aggregates of type " + in_quotes(type) + " are hosted already");
  }
  return {};
}

void EntityTable::ask(const AggregateId& aggregate, Asked&& asked, SteadyTime now, EntityActions& actions) {
  auto slot = slot_of(aggregate);
  if (!slot) {
    ++share_.counters.asked;
    ++share_.counters.failed;
    if (slot.error().code == ErrorCode::unavailable) ++share_.counters.dropped;
    actions.answers.push_back({asked.ticket, AnyAnswer::failed(std::move(slot).error())});
    return;
  }
  idle_.remove(**slot);
  (*slot)->entity.ask(std::move(asked), now, actions);
  settle(**slot, now, actions);
}

Result<EntityTable::Slot*> EntityTable::slot_of(const AggregateId& aggregate) {
  if (stopping_) return refuse(ErrorCode::unavailable, "the shard is being stopped: nothing was done");
  if (const auto known = index_.find(aggregate); known != index_.end()) return *known;
  const auto kind = kinds_.find(aggregate.type);
  if (kind == kinds_.end())
    return refuse(ErrorCode::invalid_argument, "nobody hosts aggregates of type " + in_quotes(aggregate.type));
  EVERSHARD_TRY(AggregateId::check(aggregate));
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
    lives_.push_back(0);
  }
  const EntityPlace place{free_.back(), lives_[free_.back()]};
  free_.pop_back();
  slots_[place.slot] = std::make_unique<Slot>(place, aggregate, *kind->second, share_);
  Slot* const slot = slots_[place.slot].get();
  index_.insert(slot);
  return slot;
}

EntityTable::Slot* EntityTable::slot_at(EntityPlace place) const {
  return place.slot < slots_.size() && lives_[place.slot] == place.life ? slots_[place.slot].get() : nullptr;
}

EntityTable::Slot* EntityTable::late(EntityOp op) {
  Slot* const slot = slot_at(op.place);
  if (slot == nullptr) ++share_.counters.late;
  return slot;
}

bool EntityTable::cancel(const AggregateId& aggregate, AskTicket ticket, SteadyTime now, EntityActions& actions) {
  const auto known = index_.find(aggregate);
  if (known == index_.end()) return false;
  const bool there = (*known)->entity.cancel(ticket, now, actions);
  settle(**known, now, actions);
  return there;
}

void EntityTable::permit(SteadyTime now, EntityActions& actions) {
  EVERSHARD_CHECK(!wanting_.empty(), "a permit was wanted");
  Slot* const slot = slot_at(wanting_.front());
  wanting_.pop_front();
  if (slot == nullptr || !slot->wants) {
    ++actions.permits_returned;
    return;
  }
  slot->wants = false;
  slot->permit = true;
  slot->entity.load(now, actions);
  settle(*slot, now, actions);
}

void EntityTable::loaded(EntityOp op, Result<Replayed> result, SteadyTime now, EntityActions& actions) {
  Slot* const slot = late(op);
  if (slot == nullptr) return;
  slot->entity.loaded(op.number, std::move(result), now, actions);
  settle(*slot, now, actions);
}

void EntityTable::model_read(EntityOp op, Result<DecisionRead> result, SteadyTime now, EntityActions& actions) {
  Slot* const slot = late(op);
  if (slot == nullptr) return;
  slot->entity.model_read(op.number, std::move(result), now, actions);
  settle(*slot, now, actions);
}

void EntityTable::prepared(EntityOp op, Result<std::string> answer, SteadyTime now, EntityActions& actions) {
  Slot* const slot = late(op);
  if (slot == nullptr) return;
  slot->entity.prepared(op.number, std::move(answer), now, actions);
  settle(*slot, now, actions);
}

void EntityTable::looked_up(EntityOp op, Result<std::optional<RecordedCommand>> result, SteadyTime now,
                            EntityActions& actions) {
  Slot* const slot = late(op);
  if (slot == nullptr) return;
  slot->entity.looked_up(op.number, std::move(result), now, actions);
  settle(*slot, now, actions);
}

void EntityTable::appended(EntityOp op, Result<Appended> result, SteadyTime now, EntityActions& actions) {
  Slot* const slot = late(op);
  if (slot == nullptr) return;
  slot->entity.appended(op.number, std::move(result), now, actions);
  settle(*slot, now, actions);
}

void EntityTable::snapshot_written(EntityOp op, Result<void> result, SteadyTime now, EntityActions& actions) {
  Slot* const slot = late(op);
  if (slot == nullptr) return;
  slot->entity.snapshot_written(op.number, std::move(result), now, actions);
  settle(*slot, now, actions);
}

// After every input: what the entity's phase means for the table.
void EntityTable::settle(Slot& slot, SteadyTime now, EntityActions& actions) {
  const Entity& entity = slot.entity;
  if (slot.permit && entity.phase() != Entity::Phase::loading) {
    slot.permit = false;
    ++actions.permits_returned;
  }
  const bool wants = entity.phase() == Entity::Phase::wanting;
  if (wants && !slot.wants) {
    wanting_.push_back(slot.place);
    ++actions.permits_wanted;
  }
  slot.wants = wants;
  const bool live = entity.phase() == Entity::Phase::live;
  if (live != slot.live) live_ = live ? live_ + 1 : live_ - 1;
  slot.live = live;
  if (!entity.idle()) {
    idle_.remove(slot);
  } else if (slot.segment == IdleLinks::Segment::none) {
    idle_.add(slot, now);
  }
  if (entity.gone(now)) {
    give_up(slot);
  } else {
    wakes_.set(slot, entity.wake_at());
  }
  shrink();
}

void EntityTable::give_up(Slot& slot) {
  const std::uint32_t at = slot.place.slot;
  if (slot.live) --live_;
  idle_.remove(slot);
  wakes_.remove(slot);
  index_.erase(&slot);
  slots_[at].reset();
  ++lives_[at];
  free_.push_back(at);
}

void EntityTable::shrink() {
  while (live_ > options_.live_max) {
    auto* const out = static_cast<Slot*>(idle_.first_out());
    if (out == nullptr) return;  // all are busy
    ++share_.counters.evicted;
    give_up(*out);
  }
}

void EntityTable::timer(SteadyTime now, EntityActions& actions) {
  while (wakes_.next() <= now) {
    Slot& slot = *static_cast<Slot*>(wakes_.first());
    slot.entity.timer(now, actions);
    settle(slot, now, actions);
  }
  if (options_.idle_after.count() == 0) return;
  while (auto* const idle = static_cast<Slot*>(idle_.idle_since(now - options_.idle_after))) {
    ++share_.counters.passivated;
    give_up(*idle);
  }
}

SteadyTime EntityTable::wake_at() const {
  const SteadyTime oldest = options_.idle_after.count() == 0 ? never : idle_.oldest();
  return std::min(wakes_.next(), oldest == never ? never : oldest + options_.idle_after);
}

void EntityTable::passivate(const AggregateId& aggregate, SteadyTime now, EntityActions& actions) {
  const auto known = index_.find(aggregate);
  if (known == index_.end()) return;
  (*known)->entity.passivate();
  settle(**known, now, actions);
}

void EntityTable::passivate_of_subjects(SteadyTime now, EntityActions& actions) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i] == nullptr) continue;
    slots_[i]->entity.passivate_of_subjects();
    settle(*slots_[i], now, actions);
  }
}

void EntityTable::each(void (Entity::*input)(SteadyTime, EntityActions&), SteadyTime now, EntityActions& actions) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i] == nullptr) continue;
    (slots_[i]->entity.*input)(now, actions);
    settle(*slots_[i], now, actions);
  }
}

void EntityTable::end(const std::function<bool(const AggregateId&)>& which, SteadyTime now, EntityActions& actions) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i] == nullptr || !which(slots_[i]->entity.id())) continue;
    slots_[i]->entity.stop(now, actions);
    settle(*slots_[i], now, actions);
  }
}

void EntityTable::stop(SteadyTime now, EntityActions& actions) {
  stopping_ = true;
  each(&Entity::stop, now, actions);
}

void EntityTable::abandon(SteadyTime now, EntityActions& actions) {
  stopping_ = true;
  each(&Entity::abandon, now, actions);
}

const Entity* EntityTable::find(const AggregateId& aggregate) const {
  const auto known = index_.find(aggregate);
  return known != index_.end() ? &(*known)->entity : nullptr;
}

}  // namespace evershard::actors
