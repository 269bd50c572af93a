// How an entity comes to decisions: one command after the other, over the state that those before it leave.

#include <utility>

#include "evershard/actors/entity/entity.hpp"
#include "evershard/protocol/chain.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/timers.hpp"
#include "evershard/protocol/validate.hpp"

namespace evershard::actors {
namespace {

/// `timeout` and `io` would say that something may have been written.
Error not_begun(const Error& error, std::string_view what) {
  const bool open = error.code == ErrorCode::timeout || error.code == ErrorCode::io;
  return {open ? ErrorCode::unavailable : error.code, std::string(what) + ": " + error.what,
          error.details ? *error.details : ErrorDetails{}};
}

}  // namespace

void Entity::advance(SteadyTime now, EntityActions& actions) {
  using Stage = Ask::Stage;
  if (phase_ == Phase::passive && !stopping_ && now >= pause_until_ && now >= retry_at_ && any_waiting())
    phase_ = Phase::wanting;
  bool decided = false;
  wait_no_longer();
  while (phase_ == Phase::live && next_ != nullptr) {
    Ask& ask = *next_;
    if (ask.stage == Stage::checking || ask.stage == Stage::reading) break;
    if (ask.stage != Stage::waiting) {
      next_ = ask.next;
      continue;
    }
    if (stopping_ || in_flight_ >= hosted_.options.in_flight_max || (leaving_ && ask.order > leave_behind_)) break;
    if (now < retry_at_) {
      wake(retry_at_);
      break;
    }
    decide(ask, now, actions);
    decided = true;
    if (ask.stage == Stage::waiting) break;
    wait_no_longer();
  }
  if (decided) settle(now, actions);
}

void Entity::decide(Ask& ask, SteadyTime now, EntityActions& actions) {
  if (ask.kind != AskKind::command) return decide_state(ask, actions);
  if (!check_id(ask, actions) || !prepare(ask, actions) || !read_model(ask, actions)) return;
  auto decision =
      hosted_.kind->decide(*state_, ask.command, ask.model ? ask.model->model.get() : nullptr, ask.prepared.get());
  if (!decision) return hold(ask, AnyAnswer::failed(std::move(decision).error()), actions);
  using Kind = evershard::Decision::Kind;
  switch (decision->kind) {
    case Kind::persist:
      return persist(ask, std::move(*decision), now, actions);
    case Kind::reject:
      return hold(ask, AnyAnswer::rejected(std::move(decision->rejection), version_), actions);
    case Kind::nothing:
      break;
  }
  auto reply = reply_of(*decision);
  hold(ask,
       reply ? AnyAnswer::replied(std::move(*reply), version_, GlobalPosition{0})
             : AnyAnswer::failed(std::move(reply).error()),
       actions);
}

void Entity::decide_state(Ask& ask, EntityActions& actions) {
  if (ask.kind == AskKind::state) {
    auto state = hosted_.kind->encode(*state_);
    return hold(ask,
                state ? AnyAnswer::replied(std::move(*state), version_, GlobalPosition{0})
                      : AnyAnswer::failed(std::move(state).error()),
                actions);
  }
  if (version_.value == 0) {
    return hold(
        ask, AnyAnswer::failed({ErrorCode::not_found, in_quotes(id_.text()) + " has no events to take a snapshot of"}),
        actions);
  }
  auto snapshot = snapshot_of(hosted_, id_, *state_, version_);
  if (!snapshot) {
    ++share_.counters.snapshots_dropped;
    return hold(ask, AnyAnswer::failed(std::move(snapshot).error()), actions);
  }
  ask.snapshot = std::make_unique<Snapshot>(std::move(*snapshot));
  hold(ask, AnyAnswer::replied({}, version_, GlobalPosition{0}), actions);
}

// A query cannot have been stored.
bool Entity::named(const Ask& ask) const {
  return ask.kind == AskKind::command && !ask.command_id.empty() && !hosted_.kind->is_query(ask.command.type);
}

// Whether it can be decided now.
bool Entity::check_id(Ask& ask, EntityActions& actions) {
  if (ask.checked || !named(ask)) return true;
  if (ask.id_hash == 0) ask.id_hash = RecentCommands::hash(id_hash_, ask.command_id);
  const bool looks =
      share_.recent.contains(ask.id_hash) || doubts_ != 0 || (!ask.prepared_known && hosted_.kind->asks(ask.command));
  if (!looks && preparing_ == 0) return true;
  if (joins(ask, actions)) return false;
  if (!looks) return true;
  if (doubts_ > 0) --doubts_;
  ask.stage = Ask::Stage::checking;
  look_up(ask, actions);
  return false;
}

// A second command with the id of one that is not done joins the first. Decided by itself, it would see a state that
// the first one may or may not have changed already.
bool Entity::joins(Ask& ask, EntityActions& actions) {
  for (const Ask* same = asks_.front(); same != nullptr; same = same->next) {
    if (same == &ask || same->id_hash != ask.id_hash || same->command_id != ask.command_id) continue;
    const bool open = is_open(*same);
    if (!open && same->stage != Ask::Stage::sent && same->stage != Ask::Stage::stored) continue;
    ask.joins = true;
    if (open) {
      ask.stage = Ask::Stage::preparing;
      ++joining_;
    } else {
      hold(ask, {}, actions);
    }
    return true;
  }
  return false;
}

bool Entity::is_open(const Ask& ask) const {
  const bool asked = ask.stage <= Ask::Stage::reading && ask.prepared != nullptr && ask.prepared_known;
  return (ask.stage == Ask::Stage::preparing && !ask.joins) || asked;
}

void Entity::wait_no_longer() {
  for (Ask* ask = asks_.back(); ask != nullptr && joining_ != 0;) {
    Ask* const before = ask->previous;
    if (ask->stage == Ask::Stage::preparing && ask->joins) {
      const Ask* open = asks_.front();
      while (open != nullptr && !(is_open(*open) && open->command_id == ask->command_id)) open = open->next;
      if (open == nullptr) {
        --joining_;
        ask->joins = false;
        ask->stage = Ask::Stage::waiting;
        move_behind_decided(*ask);
      }
    }
    ask = before;
  }
}

// One that is decided later than its turn saw what those behind it decided: it is answered behind them, and undecided
// with them. While the state is discarded nothing stays decided.
void Entity::move_behind_decided(Ask& ask) {
  for (Ask* last = asks_.back(); phase_ == Phase::live && last != &ask; last = last->previous) {
    if (last->stage < Ask::Stage::sent) continue;
    asks_.move_behind(ask, *last);
    break;
  }
  next_ = asks_.front();
}

// Whether it can be decided now. What it asks rests on what is durable.
bool Entity::prepare(Ask& ask, EntityActions& actions) {
  if (ask.prepared_known || !hosted_.kind->asks(ask.command)) return true;
  if (in_flight_ > 0) return false;
  auto question = hosted_.kind->prepare(*state_, ask.command);
  if (!question) {
    hold(ask, AnyAnswer::failed(std::move(question).error()), actions);
    return false;
  }
  if (!*question) {
    ask.prepared_known = true;
    return true;
  }
  ask.stage = Ask::Stage::preparing;
  ++preparing_;
  ask.prepared = std::make_unique<PreparedAnswer>(PreparedAnswer{**question, {}});
  actions.prepares.push_back({begin(ask), hosted_.kind, id_, ask.command_id, std::move(**question), ask.deadline});
  return false;
}

void Entity::prepared(std::uint64_t number, Result<std::string> answer, SteadyTime now, EntityActions& actions) {
  Ask* const ask = find(number);
  if (ask == nullptr) return;
  ask->number = 0;
  if (answer) {
    --preparing_;
    ask->prepared->answer = std::move(*answer);
    ask->prepared_known = true;
    ask->stage = Ask::Stage::waiting;
    move_behind_decided(*ask);
  } else {
    tell(*ask, AnyAnswer::failed(not_begun(answer.error(), "what it asks first was not answered")), actions);
    remove(*ask);
  }
  run(now, actions);
}

// Whether it can be decided now. What it reads has to have all that was decided before it.
bool Entity::read_model(Ask& ask, EntityActions& actions) {
  if (!ask.model_known) {
    auto model = hosted_.kind->decision_model(ask.command);
    if (!model) {
      hold(ask, AnyAnswer::failed(std::move(model).error()), actions);
      return false;
    }
    if (*model) ask.model = std::make_unique<DecisionModel>(std::move(**model));
    ask.model_known = true;
  }
  if (ask.model == nullptr || ask.model_read) return true;
  if (in_flight_ > 0) return false;
  ask.stage = Ask::Stage::reading;
  actions.reads.push_back({begin(ask), hosted_.kind, ask.command, std::move(*ask.model), position_});
  return false;
}

void Entity::model_read(std::uint64_t number, Result<DecisionRead> result, SteadyTime now, EntityActions& actions) {
  Ask* const ask = find(number);
  if (ask == nullptr) return;
  ++share_.counters.models_read;
  if (result) {
    *ask->model = std::move(result->decision);
    ask->model_position = result->position;
    ask->model_read = true;
    ask->number = 0;
    ask->stage = Ask::Stage::waiting;
  } else {
    hold(*ask, AnyAnswer::failed(not_begun(result.error(), "its decision model could not be read")), actions);
  }
  run(now, actions);
}

void Entity::persist(Ask& ask, evershard::Decision&& decision, SteadyTime now, EntityActions& actions) {
  const SeqNr before = version_;
  auto reply = apply(decision);
  if (!reply) {
    version_ = before;
    hold(ask, AnyAnswer::failed(std::move(reply).error()), actions);
    discard();  // its events are in the state already
    return;
  }
  Append append;
  append.events.reserve(decision.events.size());
  for (DecidedEvent& decided : decision.events) {
    Event& event = append.events.emplace_back();
    event.aggregate = id_;
    event.type = std::move(decided.type);
    event.payload = std::move(decided.payload);
    event.format = decided.format;
    event.tags = std::move(decided.tags);
    for (const auto& timer : decided.timers) event.tags.push_back(timer_tag(timer_key(id_, timer)));
    event.also = std::move(decided.also);
    event.metadata = chain_metadata(ask.chain);
    event.subject = std::move(decided.subject);
    of_subjects_ = of_subjects_ || !event.subject.empty();
  }
  append.expectations.push_back({id_, ExpectedVersion::exactly(before)});
  if (ask.model) append.conditions.push_back({std::move(ask.model->query), ask.model_position});
  for (AppendCondition& condition : decision.conditions) append.conditions.push_back(std::move(condition));
  if (ask.fail_if) append.conditions.push_back(*ask.fail_if);
  if (named(ask)) {
    append.command = CommandRecord{id_, ask.command_id, *reply};
    share_.recent.add(ask.id_hash);
  }
  add_snapshot(decision.snapshot, append);

  ask.answer = AnyAnswer::replied(std::move(*reply), version_, GlobalPosition{0});
  ask.version = version_;
  ask.stage = Ask::Stage::sent;
  ask.sent_at = now;
  wake(now + hosted_.options.journal_timeout);
  ++share_.counters.sent;
  actions.sends.push_back({begin(ask), std::move(append), {writer_, in_flight_ > 0}, loaded_at_});
  ++in_flight_;
}

// Leaves its events in the state, whatever it returns.
Result<std::string> Entity::apply(const evershard::Decision& decision) {
  EVERSHARD_CHECK(!decision.events.empty(), "a decision to persist has events");
  for (const DecidedEvent& event : decision.events) {
    EVERSHARD_TRY(hosted_.kind->apply(*state_, event.type, event.payload));
  }
  version_ = version_ + decision.events.size();
  return reply_of(decision);
}

Result<std::string> Entity::reply_of(const evershard::Decision& decision) const {
  if (!decision.reply) return std::string();
  auto reply = decision.reply(*state_);
  if (reply && reply->size() > hosted_.limits.reply_bytes_max) {
    return refuse(ErrorCode::too_large, "the reply has " + std::to_string(reply->size()) + " bytes, at most " +
                                            std::to_string(hosted_.limits.reply_bytes_max) +
                                            " are allowed: nothing was written");
  }
  return reply;
}

// A snapshot that cannot be made must not make the append fail, nor be tried again with the very next append.
void Entity::add_snapshot(bool asked_for, Append& append) {
  const std::uint32_t every = hosted_.kind->retention().snapshot_every;
  const bool due = every != 0 && version_ - snapshot_version_ >= every;
  if (!asked_for && !due && !snapshot_owed_) return;
  snapshot_owed_ = false;
  snapshot_version_ = version_;
  auto snapshot = snapshot_of(hosted_, id_, *state_, SeqNr{0});
  if (!snapshot || bytes_of(append) + bytes_of(*snapshot) > hosted_.limits.append_bytes_max) {
    ++share_.counters.snapshots_dropped;
    return;
  }
  ++share_.counters.snapshots;
  append.snapshots.push_back(std::move(*snapshot));
}

// Until what it saw is durable, and, where the command has an id, until it is known not to be stored.
void Entity::hold(Ask& ask, AnyAnswer answer, EntityActions& actions) {
  ask.stage = Ask::Stage::held;
  ask.version = version_;
  ask.answer = std::move(answer);
  if (ask.joins || ask.checked || !named(ask)) return;
  ask.looking = true;
  look_up(ask, actions);
}

void Entity::look_up(Ask& ask, EntityActions& actions) {
  ++share_.counters.look_ups;
  actions.look_ups.push_back({begin(ask), id_, ask.command_id});
}

void Entity::looked_up(std::uint64_t number, Result<std::optional<RecordedCommand>> result, SteadyTime now,
                       EntityActions& actions) {
  Ask* const ask = find(number);
  if (ask == nullptr) return;
  ask->number = 0;
  if (!result) {
    const bool stored = ask->stage == Ask::Stage::finding;
    const std::string_view what = stored ? "it was carried out, but its reply could not be read"
                                         : "whether it was carried out before could not be read";
    Error error = not_begun(result.error(), what);
    if (stored) error.code = ErrorCode::timeout;
    ++(stored ? share_.counters.timed_out : share_.counters.dropped);
    tell(*ask, AnyAnswer::failed(std::move(error)), actions);
    remove(*ask);
  } else if (*result) {
    doubts_ = static_cast<std::uint16_t>(hosted_.options.doubts);
    tell(*ask, AnyAnswer::replied(std::move((*result)->reply), (*result)->version, (*result)->position, true), actions);
    remove(*ask);
  } else if (ask->stage == Ask::Stage::finding) {
    undecide(*ask);
    move_behind_decided(*ask);
  } else {
    ask->checked = true;
    ask->looking = false;
    if (ask->stage == Ask::Stage::checking) ask->stage = Ask::Stage::waiting;
  }
  run(now, actions);
}

}  // namespace evershard::actors
