// What becomes of decisions: what is durable is answered in order; what is refused takes with it what was decided
// behind it.

#include <algorithm>
#include <utility>

#include "evershard/actors/entity/entity.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {

void Entity::appended(std::uint64_t number, Result<Appended> result, SteadyTime now, EntityActions& actions) {
  Ask* const ask = find(number);
  if (ask == nullptr || ask->stage != Ask::Stage::sent) return;
  --in_flight_;
  ask->number = 0;
  const bool as_expected = result && !result->versions.empty() && result->versions.front().version == ask->version;
  if (as_expected) {
    ++share_.counters.stored;
    failures_ = 0;
    ask->stage = Ask::Stage::stored;
    ask->position = result->last_position;
    ask->answer.position = result->last_position;
  } else {
    refused(*ask, result ? Error{ErrorCode::timeout, "the journal answered another append"} : std::move(result).error(),
            now, actions);
  }
  run(now, actions);
}

void Entity::refused(Ask& ask, Error&& error, SteadyTime now, EntityActions& actions) {
  undecide_behind(ask);
  const bool first = phase_ == Phase::live;
  if (first) discard();
  auto& counters = share_.counters;
  switch (error.code) {
    case ErrorCode::timeout:
    case ErrorCode::io:
    case ErrorCode::unavailable:
    case ErrorCode::cancelled:
    case ErrorCode::fenced:  // what was written before the shard went, its new writer may have
      ++counters.outcomes_unknown;
      ends_ = Ends::unknown;
      if (!ask.answered) ++counters.timed_out;
      error = Error(ErrorCode::timeout, "the outcome of the write is unknown: " + error.what);
      break;
    case ErrorCode::wrong_shard:
      ends_ = Ends::unknown;
      break;
    case ErrorCode::overloaded:
      retry_at_ = now + share_.jitter.delay(hosted_.options.retry_delay_min, hosted_.options.retry_delay_max, 1, 4);
      break;
    case ErrorCode::duplicate_event:
      if (ask.answered || ask.command_id.empty()) break;
      doubts_ = static_cast<std::uint16_t>(hosted_.options.doubts);
      ask.stage = Ask::Stage::finding;
      return look_up(ask, actions);
    default:
      if (!again(ask, error, first, now) || ask.answered) break;
      undecide(ask);
      if (stopping_) give_up(ask, ErrorCode::unavailable, in_quotes(id_.text()) + " was stopped", actions);
      return;
  }
  if (!ask.answered && error.code == ErrorCode::overloaded) ++counters.overloaded;
  tell(ask, AnyAnswer::failed(std::move(error)), actions);
  remove(ask);
}

// Whether it is to be decided again. Those behind the first one are refused for its sake: that is not counted against
// them.
bool Entity::again(Ask& ask, const Error& error, bool first, SteadyTime now) {
  const EntityOptions& options = hosted_.options;
  unsigned tries = 0;
  if (error.code == ErrorCode::version_conflict) {
    if (first) ++share_.counters.conflicts;
    if (ask.conflicts >= options.conflict_retries) return !first;
    if (first) ++ask.conflicts;
    if (ask.conflicts < 2) return true;  // at once: others rarely append here
    tries = ask.conflicts - 2u;
  } else if (error.code == ErrorCode::condition_failed) {
    // Only what is read again can come out differently: the handler's own conditions would fail again.
    const bool of_the_model = !error.details || !error.details->condition || *error.details->condition == 0;
    if (ask.model == nullptr || !of_the_model || ask.conditions >= options.condition_retries) return false;
    ++share_.counters.condition_retries;
    tries = ask.conditions++;
  } else {
    return false;
  }
  retry_at_ =
      std::max(retry_at_, now + share_.jitter.delay(options.retry_delay_min, options.retry_delay_max, tries, 4));
  return true;
}

void Entity::discard() {
  ++share_.counters.discarded;
  state_.reset();
  phase_ = Phase::draining;
  ends_ = Ends::again;
}

void Entity::undecide(Ask& ask) {
  ask.stage = Ask::Stage::waiting;
  ask.number = 0;
  ask.checked = ask.looking = ask.joins = ask.model_known = ask.model_read = false;
  ask.answer = {};
  ask.model.reset();
  ask.snapshot.reset();
}

// They saw what is not going to be.
void Entity::undecide_behind(const Ask& ask) {
  for (Ask* behind = ask.next; behind != nullptr; behind = behind->next) {
    const bool under_way = behind->stage == Ask::Stage::checking || behind->stage == Ask::Stage::reading;
    if (under_way || behind->stage == Ask::Stage::held) undecide(*behind);
  }
}

// From the oldest on: everything before the first append that is under way is durable.
void Entity::settle(SteadyTime now, EntityActions& actions) {
  using Stage = Ask::Stage;
  for (Ask* ask = asks_.front(); ask != nullptr && ask->stage != Stage::sent;) {
    Ask* const next = ask->next;
    if (ask->stage == Stage::stored) {
      position_ = ask->position;
      tell(*ask, std::move(ask->answer), actions);
      remove(*ask);
    } else if (ask->stage == Stage::held && !ask->looking) {
      release(*ask, actions);
    } else if (ask->stage <= Stage::reading && phase_ != Phase::draining) {
      break;  // nothing behind it is decided
    }
    ask = next;
  }
  if (in_flight_ > 0) return;
  if (phase_ == Phase::draining) drained(now, actions);
  if (may_leave()) leave();
  if (phase_ == Phase::wanting && asks_.empty()) phase_ = Phase::passive;
  if (stopping_ && asks_.empty()) {
    state_.reset();
    phase_ = Phase::passive;
  }
}

// What it saw is durable.
void Entity::release(Ask& ask, EntityActions& actions) {
  if (ask.joins) {
    ask.stage = Ask::Stage::finding;
    return look_up(ask, actions);
  }
  if (ask.snapshot) {
    ++share_.counters.snapshots;
    ask.stage = Ask::Stage::writing;
    actions.snapshots.push_back({begin(ask), std::move(*ask.snapshot), loaded_at_});
    return;
  }
  if (ask.kind == AskKind::state) ask.answer.position = position_;
  tell(ask, std::move(ask.answer), actions);
  remove(ask);
}

void Entity::snapshot_written(std::uint64_t number, Result<void> result, SteadyTime now, EntityActions& actions) {
  Ask* const ask = find(number);
  if (ask == nullptr) return;
  if (result) {
    snapshot_version_ = std::max(snapshot_version_, ask->version);
    tell(*ask, std::move(ask->answer), actions);
  } else if (result.error().code == ErrorCode::version_conflict && !ask->answered && !stopping_ &&
             ask->conflicts < hosted_.options.conflict_retries) {
    // The state may have what is erased: of the one that is loaded next, then.
    ++ask->conflicts;
    undecide_behind(*ask);
    undecide(*ask);
    if (phase_ == Phase::live) discard();
    return run(now, actions);
  } else {
    tell(*ask, AnyAnswer::failed(std::move(result).error()), actions);
  }
  remove(*ask);
  run(now, actions);
}

// No append is under way any more: the stream holds every event that will come of them, or nobody knows whether it
// does.
void Entity::drained(SteadyTime now, EntityActions& actions) {
  phase_ = Phase::passive;
  next_ = asks_.front();
  if (leaving_ && (asks_.empty() || asks_.front()->order > leave_behind_)) {
    leaving_ = false;
    ++share_.counters.passivated;
  }
  if (ends_ == Ends::unknown) {
    leaving_ = false;
    pause(now);
    give_up_all(ErrorCode::unavailable, "the outcome of a write before it is unknown, and the aggregate was stopped",
                actions);
  } else if (any_waiting() && !stopping_) {
    // The pause comes before the load: over a state that is older than the pause it would only lose again.
    if (now < retry_at_)
      wake(retry_at_);
    else
      phase_ = Phase::wanting;
  }
}

bool Entity::any_waiting() const {
  const Ask* ask = asks_.back();
  while (ask != nullptr && ask->stage != Ask::Stage::waiting) ask = ask->previous;
  return ask != nullptr;
}

// While it is live. What was discarded leaves when it is drained.
bool Entity::may_leave() const {
  return leaving_ && phase_ == Phase::live && in_flight_ == 0 &&
         (asks_.empty() || asks_.front()->order > leave_behind_);
}

void Entity::leave() {
  leaving_ = false;
  state_.reset();
  ++share_.counters.passivated;
  next_ = asks_.front();
  phase_ = asks_.empty() ? Phase::passive : Phase::wanting;
}

}  // namespace evershard::actors
