#include "evershard/actors/entity/entity.hpp"

#include <limits>
#include <utility>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::actors {
Entity::Entity(EntityPlace place, AggregateId id, const HostedKind& hosted, EntityShare& share)
    : place_(place), id_(std::move(id)), id_hash_(std::hash<AggregateId>{}(id_)), hosted_(hosted), share_(share) {}

void Entity::ask(Asked&& asked, SteadyTime now, EntityActions& actions) {
  ++share_.counters.asked;
  if (auto error = unacceptable(asked, now)) return refuse_at_once(asked.ticket, std::move(*error), actions);
  auto ask = std::make_unique<Ask>();
  ask->ticket = asked.ticket;
  ask->kind = asked.kind;
  ask->command = std::move(asked.command);
  ask->command_id = std::move(asked.command_id);
  ask->chain = asked.chain;
  if (asked.fail_if) ask->fail_if = std::make_unique<AppendCondition>(*std::move(asked.fail_if));
  ask->deadline = asked.deadline ? *asked.deadline : now + hosted_.options.command_timeout;
  ask->bytes = ask->command.type.size() + ask->command.bytes.size() + ask->command_id.size();
  ask->order = ++order_;
  wake(ask->deadline);
  Ask& added = asks_.add(std::move(ask));
  if (next_ == nullptr) next_ = &added;
  if (phase_ != Phase::live) ++share_.counters.stashed;
  advance(now, actions);
}

std::optional<Error> Entity::unacceptable(const Asked& asked, SteadyTime now) const {
  if (stopping_) return Error{ErrorCode::unavailable, in_quotes(id_.text()) + " is being stopped: nothing was done"};
  if (sick_ && now < pause_until_) return *sick_;
  if (asked.kind == AskKind::command) {
    if (!hosted_.kind->knows_command(asked.command.type)) {
      return Error{ErrorCode::invalid_argument,
                   "aggregates of type " + in_quotes(id_.type) + " know no command " + in_quotes(asked.command.type)};
    }
    if (asked.command_id.size() > command_id_bytes_max) {
      return Error{ErrorCode::too_large, "the command's id has " + std::to_string(asked.command_id.size()) +
                                             " bytes, at most " + std::to_string(command_id_bytes_max) +
                                             " are allowed"};
    }
  }
  const std::size_t bytes = asked.command.type.size() + asked.command.bytes.size() + asked.command_id.size();
  if (bytes > hosted_.options.asks_bytes_max) {
    return Error{ErrorCode::too_large, "the command has " + std::to_string(bytes) + " bytes, at most " +
                                           std::to_string(hosted_.options.asks_bytes_max) +
                                           " may wait for an aggregate"};
  }
  if (asks_.size() >= hosted_.options.asks_max || asks_.bytes() + bytes > hosted_.options.asks_bytes_max) {
    return Error{ErrorCode::overloaded, in_quotes(id_.text()) + " has " + std::to_string(asks_.size()) +
                                            " commands of " + std::to_string(asks_.bytes()) +
                                            " bytes before it: try again later"};
  }
  return std::nullopt;
}

void Entity::refuse_at_once(AskTicket ticket, Error error, EntityActions& actions) {
  ++share_.counters.failed;
  if (error.code == ErrorCode::overloaded) ++share_.counters.overloaded;
  if (error.code == ErrorCode::unavailable) ++share_.counters.dropped;
  actions.answers.push_back({ticket, AnyAnswer::failed(std::move(error))});
}

bool Entity::cancel(AskTicket ticket, SteadyTime now, EntityActions& actions) {
  for (Ask* ask = asks_.front(); ask != nullptr; ask = ask->next) {
    if (ask->ticket != ticket || ask->answered) continue;
    ++share_.counters.cancelled;
    give_up(*ask, ErrorCode::cancelled, "the caller went away", actions);
    run(now, actions);
    return true;
  }
  return false;
}

// What can be answered is answered; what can be decided is decided.
void Entity::run(SteadyTime now, EntityActions& actions) {
  settle(now, actions);
  advance(now, actions);
}

void Entity::load(SteadyTime now, EntityActions& actions) {
  EVERSHARD_CHECK(phase_ == Phase::wanting, "a load was wanted");
  phase_ = Phase::loading;
  load_number_ = ++number_;
  load_until_ = now + hosted_.options.journal_timeout;
  wake(load_until_);
  actions.loads.push_back({{place_, load_number_}, hosted_.kind, id_});
}

void Entity::loaded(std::uint64_t number, Result<Replayed> result, SteadyTime now, EntityActions& actions) {
  if (phase_ != Phase::loading || number != load_number_) {
    ++share_.counters.late;
    return;
  }
  load_until_ = never;
  if (!result) return load_failed(result.error(), now, actions);
  auto& counters = share_.counters;
  const Retention& retention = hosted_.kind->retention();
  ++counters.loads;
  counters.replayed += result->replayed;
  if (result->snapshot == SnapshotUse::used) ++counters.snapshots_used;
  if (result->snapshot > SnapshotUse::used) ++counters.snapshots_skipped;
  state_ = std::move(result->state);
  version_ = result->version;
  position_ = result->position;
  snapshot_version_ = result->snapshot_version;
  loaded_at_ = result->loaded_at;
  of_subjects_ = result->of_subjects;
  snapshot_owed_ = retention.replayed_max != 0 && result->replayed > retention.replayed_max;
  writer_ = share_.jitter.next();
  sick_.reset();
  phase_ = Phase::live;
  next_ = asks_.front();
  run(now, actions);
}

void Entity::load_failed(const Error& error, SteadyTime now, EntityActions& actions) {
  ++share_.counters.loads_failed;
  // not_found: history that was removed, and no snapshot stands for it.
  const bool sick = error.code == ErrorCode::corruption || error.code == ErrorCode::not_found;
  const ErrorCode code = sick ? error.code : ErrorCode::unavailable;
  const std::string why = in_quotes(id_.text()) + " could not be loaded: " + error.what;
  if (sick) sick_ = std::make_unique<Error>(code, why);
  phase_ = Phase::passive;
  leaving_ = false;
  pause(now);
  give_up_all(code, why, actions);
}

// After a failure: whoever comes next waits for a while, longer each time.
void Entity::pause(SteadyTime now) {
  const auto& options = hosted_.options;
  pause_until_ = now + share_.jitter.delay(options.reload_delay_min, options.reload_delay_max, failures_, 2);
  if (failures_ < std::numeric_limits<std::uint8_t>::max()) ++failures_;
  forget_at_ = now + options.reload_delay_max;
  wake(pause_until_);
  wake(forget_at_);
}

void Entity::timer(SteadyTime now, EntityActions& actions) {
  const Error lost(ErrorCode::timeout, "the journal did not answer in time");
  if (now >= load_until_) loaded(load_number_, refuse(lost), now, actions);
  for (Ask* ask = asks_.front(); ask != nullptr;) {
    const bool late = ask->stage == Ask::Stage::sent && ask->sent_at + hosted_.options.journal_timeout <= now;
    if (late) appended(ask->number, refuse(lost), now, actions);
    ask = late ? asks_.front() : ask->next;  // what followed it may be gone
  }
  expire(now, actions);
  run(now, actions);
  reconsider_wake(now);
}

void Entity::expire(SteadyTime now, EntityActions& actions) {
  for (Ask* ask = asks_.front(); ask != nullptr;) {
    Ask* const next = ask->next;
    if (!ask->answered && ask->deadline <= now) give_up(*ask, ErrorCode::unavailable, "its time was over", actions);
    ask = next;
  }
}

void Entity::reconsider_wake(SteadyTime now) {
  wake_at_ = load_until_;
  for (const Ask* ask = asks_.front(); ask != nullptr; ask = ask->next) {
    if (!ask->answered) wake(ask->deadline);
    if (ask->stage == Ask::Stage::sent) wake(ask->sent_at + hosted_.options.journal_timeout);
  }
  if (phase_ == Phase::passive && now < pause_until_) wake(pause_until_);
  if (phase_ == Phase::passive && now < forget_at_) wake(forget_at_);
  if ((phase_ == Phase::live || phase_ == Phase::passive) && now < retry_at_ && !asks_.empty()) wake(retry_at_);
}

// Answers a caller ahead of the outcome. Only an append stays: its result still moves the state.
void Entity::give_up(Ask& ask, ErrorCode code, const std::string& why, EntityActions& actions) {
  using Stage = Ask::Stage;
  const bool writes = ask.stage == Stage::sent || ask.stage == Stage::stored;
  const bool open = writes || ask.stage == Stage::finding || ask.stage == Stage::writing || ask.joins;
  if (!ask.answered) {
    auto& counters = share_.counters;
    if (code != ErrorCode::cancelled) ++(open ? counters.timed_out : counters.dropped);
    const bool unknown = open && code != ErrorCode::cancelled;
    tell(ask,
         AnyAnswer::failed({unknown ? ErrorCode::timeout : code,
                            why + (open ? ", and the outcome is unknown" : ": nothing was done")}),
         actions);
  }
  if (!writes) remove(ask);
}

// But for what waits for something else than the state.
void Entity::give_up_all(ErrorCode code, const std::string& why, EntityActions& actions) {
  for (Ask* ask = asks_.front(); ask != nullptr;) {
    Ask* const next = ask->next;
    const bool elsewhere = ask->stage == Ask::Stage::finding || ask->stage == Ask::Stage::writing;
    if (!elsewhere) give_up(*ask, code, why, actions);
    ask = next;
  }
}

void Entity::passivate() {
  if (phase_ == Phase::loading) {
    // What is just being read may be what is not to be remembered: it is read once more, behind this.
    load_until_ = never;
    phase_ = any_waiting() ? Phase::wanting : Phase::passive;
    return;
  }
  if (phase_ != Phase::live && phase_ != Phase::draining) return;
  leaving_ = true;
  leave_behind_ = order_;
  if (may_leave()) leave();
}

// What is being loaded is read once more: nobody knows yet what is in it.
void Entity::passivate_of_subjects() {
  if (of_subjects_ || phase_ == Phase::loading) passivate();
}

void Entity::stop(SteadyTime now, EntityActions& actions) {
  stopping_ = true;
  leaving_ = false;
  load_until_ = never;
  pause_until_ = forget_at_ = SteadyTime::min();
  if (phase_ == Phase::wanting || phase_ == Phase::loading) phase_ = Phase::passive;
  const std::string why = in_quotes(id_.text()) + " was stopped";
  for (Ask* ask = asks_.front(); ask != nullptr;) {
    Ask* const next = ask->next;
    if (ask->stage <= Ask::Stage::preparing) give_up(*ask, ErrorCode::unavailable, why, actions);
    ask = next;
  }
  run(now, actions);
}

void Entity::abandon(SteadyTime now, EntityActions& actions) {
  stop(now, actions);
  const std::string why = in_quotes(id_.text()) + " was stopped";
  for (Ask* ask = asks_.front(); ask != nullptr;) {
    Ask* const next = ask->next;
    const bool stays = ask->stage == Ask::Stage::sent || ask->stage == Ask::Stage::stored;
    give_up(*ask, ErrorCode::unavailable, why, actions);
    if (stays) remove(*ask);
    ask = next;
  }
  in_flight_ = 0;
  state_.reset();
  phase_ = Phase::passive;
}

Ask* Entity::find(std::uint64_t number) const {
  Ask* ask = asks_.front();
  while (ask != nullptr && ask->number != number) ask = ask->next;
  if (ask == nullptr) ++share_.counters.late;
  return ask;
}

EntityOp Entity::begin(Ask& ask) {
  ask.number = ++number_;
  return {place_, ask.number};
}

void Entity::tell(Ask& ask, AnyAnswer answer, EntityActions& actions) {
  if (std::exchange(ask.answered, true)) return;
  auto& counters = share_.counters;
  ++(answer.kind == AnswerKind::replied    ? counters.replied
     : answer.kind == AnswerKind::rejected ? counters.rejected
                                           : counters.failed);
  if (answer.duplicate) ++counters.duplicates;
  actions.answers.push_back({ask.ticket, std::move(answer)});
}

void Entity::remove(Ask& ask) {
  if (next_ == &ask) next_ = ask.next;
  if (ask.stage == Ask::Stage::preparing) --(ask.joins ? joining_ : preparing_);
  asks_.remove(ask);
}

}  // namespace evershard::actors
