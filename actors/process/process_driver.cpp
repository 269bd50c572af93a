#include "evershard/actors/process/process_driver.hpp"

#include <algorithm>
#include <iterator>

#include "evershard/actors/process/process_codecs.hpp"
#include "evershard/protocol/chain.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {
namespace {

constexpr std::string_view ids_begin = "$process/";  ///< of commands: positions are unique in a store

/// How many times more items may wait for another try, or to be resumed, than may be under way.
constexpr std::size_t held_up_factor = 10;

constexpr std::chrono::milliseconds overloaded_retry_most = std::chrono::seconds(1);

std::string id_of(GlobalPosition position) { return std::string(ids_begin) + std::to_string(position.value); }
std::string id_of(GlobalPosition position, std::uint32_t number) {
  return id_of(position) + "/" + std::to_string(number);
}

}  // namespace

ProcessDriver::ProcessDriver(std::shared_ptr<const ProcessDefinition> process, ProcessCheckpoint checkpoint,
                             GlobalPosition taken_at, ProcessOptions options,
                             std::map<std::string, EffectBounds> effects)
    : process_(std::move(process)),
      taken_at_(taken_at),
      taken_over_{Query{}.types({std::string(process_taken_type)}).tags({process_tag(process_->type)}), taken_at},
      options_(options),
      effects_(std::move(effects)),
      read_to_(checkpoint.position),
      known_to_(checkpoint.done_to),
      known_open_(std::move(checkpoint.open)),
      to_replay_(checkpoint.replays.begin(), checkpoint.replays.end()) {
  figures_.type = process_->type;
  controls_.controls_to = checkpoint.controls_to;
  controls_.stopped = checkpoint.stopped;
  controls_.stopped_instances = std::move(checkpoint.stopped_instances);
  controls_.skipped = std::move(checkpoint.skipped);
  controls_.replays = std::move(checkpoint.replays);
  controls_.retired_at = checkpoint.retired_at;
}

std::optional<Append> ProcessDriver::retiring_others(const ProcessDefinition& process, const ProcessOptions& options) {
  if (options.beside.empty()) return std::nullopt;
  return retiring(options.beside, process.type);
}

void ProcessDriver::begin_behind(GlobalPosition retired_at) {
  begins_behind_ = retired_at;
  read_to_ = std::max(read_to_, retired_at);
}

void ProcessDriver::others_are_at(GlobalPosition position, Time now, ProcessActions& actions) {
  const bool waited = waits_for_others();
  others_at_ = std::max(others_at_, position);
  if (!waited || waits_for_others()) return;
  for (const auto& id : std::exchange(held_told_, {})) start(id, now, actions);
}

Result<void> ProcessDriver::check(const ProcessDefinition& process, const ProcessOptions& options,
                                  const Effects& effects) {
  const auto refused = [&](const std::string& why) {
    return refuse(ErrorCode::invalid_argument, "process " + in_quotes(process.type) + ": " + why);
  };
  for (const auto& [type, wanted] : process.effects)
    if (!effects.handlers().contains(type)) return refused("effect " + in_quotes(type) + " has no handler");
  for (const auto& [type, bounds] : effects.bounds()) {
    const auto& of = bounds.options;
    if (of.at_a_time == 0 || of.attempts_max == 0 || of.retry_first.count() <= 0 || of.timeout.count() <= 0)
      return refused("effect " + in_quotes(type) +
                     ": at_a_time, attempts_max, retry_first and timeout are more than 0");
    if ((of.at_a_time_per_target != 0) != (bounds.target != nullptr))
      return refused("effect " + in_quotes(type) + ": at_a_time_per_target is more than 0 where it has a target");
  }
  for (const auto& other : options.beside) {
    if (other == process.type) return refused("it cannot run beside itself");
    if (auto ok = AggregateId::check({other, "1"}); !ok)
      return refused("beside " + in_quotes(other) + ": " + ok.error().what);
  }
  if (options.waiting_max == 0 || options.waiting_bytes_max == 0 || options.retry_first.count() <= 0 ||
      options.retry_most < options.retry_first || options.checkpoint_every.count() <= 0)
    return refused(
        "waiting_max, waiting_bytes_max, retry_first, checkpoint_every are more than 0, retry_most is at least "
        "retry_first");
  return {};
}

AggregateId ProcessDriver::log_of(const ProcessDefinition& process) { return process_log(process.type); }

Append ProcessDriver::taking_over(const ProcessDefinition& process) {
  Event event;
  event.aggregate = log_of(process);
  event.type = std::string(process_taken_type);
  event.tags = {process_tag(process.type)};
  return Append{}.event(std::move(event)).request(EventId::random());
}

Query ProcessDriver::query(const ProcessDefinition& process) {
  if (process.query.is_all()) return process.query;
  auto items = process.query.items();
  items.push_back(
      {{std::string(process_reacted_type), std::string(process_taken_type), std::string(process_retired_type)},
       {process_tag(process.type)},
       {}});
  return Query::of(std::move(items));
}

// What waits to be sent until rejections are known does not count: they are behind it.
bool ProcessDriver::is_full() {
  const auto fills = [&](std::size_t waits, std::size_t most) { return full_ ? 4 * waits > 3 * most : waits >= most; };
  full_ = knows_rejections() ? fills(waiting_ - held_up_, options_.waiting_max) ||
                                   fills(waiting_, options_.waiting_max * held_up_factor) ||
                                   fills(waiting_bytes_, options_.waiting_bytes_max)
                             : fills(told_waiting_ - told_held_up_, options_.waiting_max) ||
                                   fills(told_waiting_, options_.waiting_max * held_up_factor);
  return full_;
}

void ProcessDriver::events(const std::vector<RecordedEvent>& events, GlobalPosition read_to, Time now,
                           ProcessActions& actions, std::uint64_t read_at) {
  read_at_ = read_at;
  const bool knew = knows_rejections();
  for (const auto& event : events) {
    if (event.position <= read_to_) continue;
    if (event.type == process_reacted_type)
      take_reaction(event);
    else if (event.type == process_taken_type && event.aggregate == log_of(*process_))
      actions.over = actions.over || event.position > taken_at_;
    else if (event.type == process_retired_type && event.aggregate == log_of(*process_))
      controls_.retired_at = controls_.retired_at.value == 0 ? event.position : controls_.retired_at;
    else
      take(event);
    read_to_ = event.position;
  }
  read_to_ = std::max(read_to_, read_to);
  known_open_.erase(known_open_.begin(), known_open_.upper_bound(read_to_));
  for (auto& id : std::exchange(touched_, {})) {
    if (id.first != Kind::told && !knows_rejections())
      held_.push_back(std::move(id));
    else if (id.first == Kind::told && waits_for_others())
      held_told_.push_back(std::move(id));
    else
      start(id, now, actions);
  }
  if (!knew && knows_rejections())
    for (const auto& id : std::exchange(held_, {})) start(id, now, actions);
}

void ProcessDriver::take(const RecordedEvent& event) {
  if (event.state != EventState::live || !process_->reacts.contains(event.type)) return;
  if (is_done(event.position, 0)) return;
  const auto key = process_->key(event);
  if (key && key->empty()) return;  // for no instance
  const bool known = key && AggregateId::check(instance(*key));
  ++told_waiting_;
  Item item{Kind::told, event.position};
  item.event = event;
  item.chain = chain_of(event.metadata_bytes());
  add({Kind::told, known ? *key : std::string()}, std::move(item));
}

void ProcessDriver::take_reaction(const RecordedEvent& event) {
  if (event.state != EventState::live || !event.aggregate || event.aggregate->type != process_->type) return;
  auto reacted = decode_process_reacted(event.payload);
  if (!reacted) {  // nobody knows what it wants: its instance sends nothing that comes behind it
    if (is_done(event.position, 0)) return;  // it was skipped
    Item item{Kind::sent, event.position};
    item.reason = reacted.error().what;
    return add({Kind::sent, event.aggregate->value}, std::move(item));
  }
  using Cause = ProcessReacted::Cause;
  if (!knows_rejections()) {
    if (reacted->cause == Cause::rejection) rejected_.emplace(reacted->position, reacted->number);
    if (reacted->cause == Cause::performed || reacted->cause == Cause::not_performed)
      performed_.emplace(reacted->position, reacted->number);
  }
  const auto& instance = event.aggregate->value;
  for (std::uint32_t n = 0; n != reacted->effects.size(); ++n) {
    if (is_done(event.position, n + 1)) continue;
    Item item{Kind::effect, event.position};
    item.next = n;
    item.chain = chain_of(event.metadata_bytes());
    item.instance = instance;
    item.reaction = event.id;
    item.effect = std::move(reacted->effects[n]);
    add({Kind::effect, id_of(event.position, n)}, std::move(item));
  }
  if (reacted->commands.empty() || is_done(event.position, 0)) return;
  Item item{Kind::sent, event.position};
  item.chain = chain_of(event.metadata_bytes());
  item.commands = std::move(reacted->commands);
  add({Kind::sent, instance}, std::move(item));
}

void ProcessDriver::add(LaneId id, Item item) {
  const auto [open, added] = open_.try_emplace(item.position);
  if (const auto known = known_open_.find(item.position); added && known != known_open_.end())
    open->second.done = known->second;
  ++open->second.left;
  ++waiting_;
  item.bytes = item.event.payload.size() + item.effect.payload.size();
  for (const auto& command : item.commands) item.bytes += command.payload.size();
  item.read_at = read_at_;
  waiting_bytes_ += item.bytes;
  Lane& lane = lanes_[id];
  if (lane.held_up) {
    ++held_up_;
    if (item.kind == Kind::told) ++told_held_up_;
  }
  lane.items.push_back(std::move(item));
  touched_.push_back(std::move(id));
}

void ProcessDriver::start(const LaneId& id, Time now, ProcessActions& actions) {
  const auto found = lanes_.find(id);
  if (found == lanes_.end()) return;
  Lane& lane = found->second;
  if (lane.busy || lane.waits) return;
  while (!lane.items.empty()) {
    if (is_stopped(id, lane)) {
      stopped_lanes_.insert(id);
      hold_up(lane, true);
      return;
    }
    if (skip(id, lane)) continue;
    if (id.first == Kind::effect && !lane.items.front().outcome) {
      const auto& item = lane.items.front();
      if (item.replayed.value != 0 || !performed_.contains({item.position, item.next}))
        return perform(id, lane, now, actions);
      done(lane);
      continue;
    }
    auto ask = ask_of(id, lane.items.front(), now);
    if (lane.waits) return;
    if (!ask) {
      done(lane);
      continue;
    }
    lane.busy = true;
    ask->number = ++number_;
    ask->because = lane.items.front().position;
    ask->read_at = lane.items.front().read_at;
    asked_.emplace(ask->number, id);
    actions.asks.push_back(std::move(*ask));
    return;
  }
  lanes_.erase(found);
}

// Of what an instance is told.
bool ProcessDriver::goes_in_a_circle(const LaneId& id, const Item& item, Time now) {
  if (options_.chain_max == 0 || item.chain < options_.chain_max) return false;
  failed("it follows from " + std::to_string(item.chain) +
             " reactions of processes, one after the other: instances command each other in a circle (or chain_max is "
             "to be more)",
         lanes_.at(id), now, id);
  return true;
}

/// Nothing: the item is done with; or the lane waits.
std::optional<ProcessActions::Ask> ProcessDriver::ask_of(const LaneId& id, Item& item, Time now) {
  const bool tells = id.first != Kind::sent || item.rejected;
  if (tells && goes_in_a_circle(id, item, now)) return std::nullopt;
  auto ask = what_to_ask(id, item, now);
  if (ask) ask->chain = tells ? item.chain + 1 : item.chain;
  return ask;
}

// A former version may have the key's instance: then this one has none.
ProcessActions::Ask ProcessDriver::tell(const std::string& key, const Item& item) const {
  if (item.others_asked < options_.beside.size())
    return {0, {options_.beside[item.others_asked], key}, std::string(process_known_type), {}, {}};
  const bool begins_none = controls_.retired_at.value != 0 && item.position > controls_.retired_at;
  return {0, instance(key), std::string(process_event_type), encode(ProcessEvent{item.event, begins_none}),
          id_of(item.position)};
}

std::optional<ProcessActions::Ask> ProcessDriver::what_to_ask(const LaneId& id, Item& item, Time now) {
  if (id.first == Kind::told) {
    if (id.second.empty()) {  // the event's instance could not be told
      const auto key = process_->key(item.event);
      const auto ok = key ? AggregateId::check(instance(*key)) : tl::expected<void, Error>();
      if (!key || !ok) {
        failed(key ? ok.error().what : key.error().what, lanes_.at(id), now, id);
        return std::nullopt;
      }
      return tell(*key, item);
    }
    return tell(id.second, item);
  }
  if (id.first == Kind::effect)
    return ProcessActions::Ask{0, instance(item.instance), std::string(process_performed_type),
                               encode(ProcessPerformed{item.position, item.next, item.effect, item.outcome->has_value(),
                                                       item.outcome->value_or(std::string()),
                                                       *item.outcome ? std::string() : item.outcome->error().what}),
                               id.second + "/performed"};
  if (item.commands.empty()) {
    failed(item.reason, lanes_.at(id), now, id);
    return std::nullopt;
  }
  while (item.next != item.commands.size() && rejected_.contains({item.position, item.next})) ++item.next;
  if (item.next == item.commands.size()) return std::nullopt;
  const auto& command = item.commands[item.next];
  if (item.rejected)
    return ProcessActions::Ask{0, instance(id.second), std::string(process_rejection_type),
                               encode(ProcessRejection{item.position, item.next, command, item.reason,
                                                       process_tag(process_->type), taken_at_}),
                               id_of(item.position, item.next) + "/rejected"};
  ProcessActions::Ask ask{0, command.aggregate, command.type, command.payload, id_of(item.position, item.next)};
  if (process_->rejections.contains(command.type)) ask.fail_if = taken_over_;
  return ask;
}

std::optional<ProcessDriver::LaneId> ProcessDriver::let_go(std::uint64_t number) {
  const auto found = asked_.find(number);
  if (found == asked_.end()) return std::nullopt;
  auto id = std::move(found->second);
  asked_.erase(found);
  lanes_.at(id).busy = false;
  return id;
}

void ProcessDriver::answered(std::uint64_t number, const AnyAnswer& answer, Time now, ProcessActions& actions) {
  const auto asked = let_go(number);
  if (!asked) return;
  const auto& id = *asked;
  Lane& lane = lanes_.at(id);
  switch (id.first) {
    case Kind::told:
      told(answer, lane, now, id);
      break;
    case Kind::sent:
      sent(answer, lane, now, id, actions);
      break;
    case Kind::effect:
      told_outcome(answer, lane, now, id);
  }
  if (!actions.over) start(id, now, actions);
}

void ProcessDriver::told(const AnyAnswer& answer, Lane& lane, Time now, const LaneId& id) {
  if (answer.kind != AnswerKind::replied) return failed(answer.error, lane, now, id);
  Item& item = lane.items.front();
  if (item.others_asked < options_.beside.size()) {
    if (answer.reply == to_bytes(ProcessKnownAnswer{false})) {
      ++item.others_asked;
      return;
    }
    return done(lane);
  }
  ++figures_.reacted;
  done(lane);
}

void ProcessDriver::told_outcome(const AnyAnswer& answer, Lane& lane, Time now, const LaneId& id) {
  if (answer.kind != AnswerKind::replied) return failed(answer.error, lane, now, id);
  done(lane);
}

void ProcessDriver::perform(const LaneId& id, Lane& lane, Time now, ProcessActions& actions) {
  Item& item = lane.items.front();
  const auto& type = item.effect.type;
  const auto bounds = effects_.find(type);
  if (bounds == effects_.end())  // of another version of the program
    return try_again("effect " + in_quotes(type) + " has no handler", options_.retry_most, lane, now, id);
  item.target.clear();
  if (bounds->second.target) {
    auto target = bounds->second.target(item.effect.payload);
    if (!target) {
      ++lane.attempts;
      attempt_failed(target.error(), lane, now, id);
      return start(id, now, actions);
    }
    item.target = std::move(*target);
  }
  lane.busy = true;
  const auto& options = bounds->second.options;
  queues_.try_emplace(type, options.at_a_time, options.at_a_time_per_target).first->second.add(id.second, item.target);
  begin_attempts(type, now, actions);
}

void ProcessDriver::begin_attempts(const std::string& type, Time now, ProcessActions& actions) {
  auto& queue = queues_.at(type);
  while (auto next = queue.begin()) {
    const LaneId id(Kind::effect, std::move(*next));
    Lane& lane = lanes_.at(id);
    const Item& item = lane.items.front();
    if (is_stopped(id, lane)) {  // while it waited for others
      queue.end(item.target);
      lane.busy = false;
      stopped_lanes_.insert(id);
      hold_up(lane, true);
      continue;
    }
    const auto number = ++number_;
    asked_.emplace(number, id);
    deadlines_.emplace(now + effects_.at(type).options.timeout, number);
    // Type, instance and position are the same in two stores, and again in one that was restored.
    actions.performs.push_back({number,
                                item.effect,
                                {item.reaction.text() + "/" + std::to_string(item.next), ++lane.attempts},
                                item.position,
                                item.read_at});
  }
}

void ProcessDriver::performed(std::uint64_t number, const Result<std::string>& answer, Time now,
                              ProcessActions& actions) {
  const auto asked = let_go(number);
  if (!asked) return;  // it was too late
  const auto& id = *asked;
  std::erase_if(deadlines_, [&](const auto& of) { return of.second == number; });
  Lane& lane = lanes_.at(id);
  Item& item = lane.items.front();
  const auto type = item.effect.type;
  queues_.at(type).end(item.target);
  if (answer) {
    ++figures_.performed;
    const auto wanted = process_->effects.find(type);
    if (item.replayed.value != 0 || (wanted != process_->effects.end() && wanted->second))
      item.outcome = *answer;
    else
      done(lane);
  } else {
    attempt_failed(answer.error(), lane, now, id);
  }
  start(id, now, actions);
  begin_attempts(type, now, actions);
}

void ProcessDriver::gone(std::uint64_t number, Time now, ProcessActions& actions) {
  const auto asked = let_go(number);
  if (!asked) return;
  const auto& id = *asked;
  Lane& lane = lanes_.at(id);
  const Item& item = lane.items.front();
  const auto type = item.effect.type;
  const bool attempted = id.first == Kind::effect && !item.outcome;
  if (attempted) {
    std::erase_if(deadlines_, [&](const auto& of) { return of.second == number; });
    queues_.at(type).end(item.target);
  }
  done(lane);
  start(id, now, actions);
  if (attempted) begin_attempts(type, now, actions);
}

// What is wrong with the effect itself is so the next time too.
void ProcessDriver::attempt_failed(const Error& why, Lane& lane, Time now, const LaneId& id) {
  Item& item = lane.items.front();
  const auto& options = effects_.at(item.effect.type).options;
  if (why.code == ErrorCode::invalid_argument || lane.attempts >= options.attempts_max) {
    ++figures_.given_up;
    if (item.replayed.value != 0) return done(lane);  // its instance has reacted to that
    item.outcome = refuse(why);
    return;
  }
  auto wait = options.retry_first;
  for (std::uint32_t n = 1; n < lane.attempts && wait < options.retry_most; ++n) wait *= 2;
  try_again(why.what, std::min(wait, options.retry_most), lane, now, id);
}

void ProcessDriver::sent(const AnyAnswer& answer, Lane& lane, Time now, const LaneId& id, ProcessActions& actions) {
  Item& item = lane.items.front();
  if (answer.kind == AnswerKind::failed) {
    if (item.rejected && answer.error.code == ErrorCode::condition_failed) {
      actions.over = true;
      return;
    }
    return failed(answer.error, lane, now, id);
  }
  lane.failures = 0;
  if (std::exchange(item.rejected, false)) {
    ++item.next;
    return;
  }
  ++figures_.sent;
  if (answer.kind == AnswerKind::replied) {
    ++item.next;
    return;
  }
  ++figures_.rejected;
  if (process_->rejections.contains(item.commands[item.next].type)) {
    item.rejected = true;
    item.reason = answer.rejection;
  } else {
    ++item.next;
  }
}

void ProcessDriver::done(Lane& lane) {
  lane.failures = 0;
  const auto& item = lane.items.front();
  if (item.kind == Kind::told) --told_waiting_;
  --waiting_;
  waiting_bytes_ -= item.bytes;
  if (item.replayed.value != 0) {
    controls_.replays.erase({{ProcessPlace::What::effect, item.position, item.next}, item.replayed});
    return lane.items.pop_front();
  }
  const auto open = open_.find(item.position);
  open->second.done.insert(item.kind == Kind::effect ? item.next + 1 : 0);
  if (--open->second.left == 0) open_.erase(open);
  lane.items.pop_front();
}

void ProcessDriver::failed(const std::string& why, Lane& lane, Time now, const LaneId& id) {
  failed(why, options_.retry_most, lane, now, id);
}

void ProcessDriver::failed(const std::string& why, std::chrono::milliseconds wait_most, Lane& lane, Time now,
                           const LaneId& id) {
  auto wait = options_.retry_first;
  for (std::uint32_t n = 0; n != lane.failures && wait < wait_most; ++n) wait *= 2;
  ++lane.failures;
  try_again(why, std::min(wait, wait_most), lane, now, id);
}

// An aggregate that others keep busy has room again soon.
void ProcessDriver::failed(const Error& why, Lane& lane, Time now, const LaneId& id) {
  const auto most = options_.retry_most;
  failed(why.what, why.code == ErrorCode::overloaded ? std::min(most, overloaded_retry_most) : most, lane, now, id);
}

void ProcessDriver::try_again(const std::string& why, std::chrono::milliseconds wait, Lane& lane, Time now,
                              const LaneId& id) {
  const Item& item = lane.items.front();
  const auto& whose = item.kind == Kind::effect ? item.instance : id.second;
  ++figures_.failed;
  figures_.trouble = (whose.empty() ? std::string("an event") : in_quotes(instance(whose).text())) + ", position " +
                     std::to_string(item.position.value) + ": " + why;
  lane.waits = true;
  hold_up(lane, true);
  lane.why = why;
  retries_.emplace(now + wait, id);
}

ProcessPlace ProcessDriver::place_of(const LaneId& id, const Item& item) {
  const auto what = id.first == Kind::told   ? ProcessPlace::What::event
                    : id.first == Kind::sent ? ProcessPlace::What::command
                                             : ProcessPlace::What::effect;
  return {what, item.position, item.next};
}

// The item as a whole: of commands those behind it are sent.
bool ProcessDriver::skip(const LaneId& id, Lane& lane) {
  Item& item = lane.items.front();
  if (item.replayed.value != 0 || !controls_.skipped.contains(place_of(id, item))) return false;
  switch (id.first) {
    case Kind::told:
      done(lane);
      return true;
    case Kind::sent:
      lane.failures = 0;
      item.rejected = false;
      if (item.next + 1 < item.commands.size())
        ++item.next;
      else
        done(lane);
      return true;
    case Kind::effect:
      break;
  }
  if (performed_.contains({item.position, item.next}) || item.untold) {
    done(lane);
    return true;
  }
  if (!item.outcome) {
    ++figures_.given_up;
    item.outcome = refuse(ErrorCode::cancelled, "it was skipped");
  }
  return false;  // its instance is told
}

template <class Which>
void ProcessDriver::try_now(Which which, Time now, ProcessActions& actions) {
  std::vector<LaneId> again;
  std::erase_if(retries_, [&](const auto& of) {
    Lane& lane = lanes_.at(of.second);
    if (!which(of.second, lane)) return false;
    lane.waits = false;
    hold_up(lane, false);
    lane.failures = 0;
    lane.attempts = 0;
    again.push_back(of.second);
    return true;
  });
  for (const auto& id : again) start(id, now, actions);
}

void ProcessDriver::control(const RecordedEvent& event, Time now, ProcessActions& actions) {
  if (event.position <= controls_.controls_to || event.type != process_controlled_type) return;
  controls_.controls_to = event.position;
  if (event.state != EventState::live) return;
  const auto control = decode_process_control(event.payload);
  if (!control) return;  // of a newer program
  using Action = ProcessControl::Action;
  switch (control->action) {
    case Action::stop:
      if (control->instance.empty())
        controls_.stopped = true;
      else
        controls_.stopped_instances.insert(control->instance);
      return;
    case Action::resume:
      if (control->instance.empty())
        controls_.stopped = false;
      else
        controls_.stopped_instances.erase(control->instance);
      return start_stopped(now, actions);
    case Action::retry:
      return try_now(
          [&](const LaneId& id, const Lane& lane) {
            return control->instance.empty() || instance_of(id, lane) == control->instance;
          },
          now, actions);
    case Action::skip: {
      const auto& place = control->place;
      if (place.what == ProcessPlace::What::effect) {  // once more: its instance cannot be told
        const auto found = lanes_.find({Kind::effect, id_of(place.position, place.number)});
        if (found != lanes_.end() && found->second.items.front().outcome) found->second.items.front().untold = true;
      }
      controls_.skipped.insert(place);
      return try_now([&](const LaneId& id, const Lane& lane) { return place_of(id, lane.items.front()) == place; }, now,
                     actions);
    }
    case Action::replay: {
      if (control->place.what != ProcessPlace::What::effect) return;
      const ProcessReplay replay{control->place, event.position};
      controls_.replays.insert(replay);
      to_replay_.push_back(replay);
    }
  }
}

void ProcessDriver::hold_up(Lane& lane, bool held_up) {
  if (std::exchange(lane.held_up, held_up) == held_up) return;
  const auto count = lane.items.size();
  const auto told = !lane.items.empty() && lane.items.front().kind == Kind::told ? count : 0;
  held_up_ = held_up ? held_up_ + count : held_up_ - count;
  told_held_up_ = held_up ? told_held_up_ + told : told_held_up_ - told;
}

void ProcessDriver::start_stopped(Time now, ProcessActions& actions) {
  for (const auto& id : std::exchange(stopped_lanes_, {})) {
    hold_up(lanes_.at(id), false);
    start(id, now, actions);
  }
}

std::vector<ProcessReplay> ProcessDriver::replays_to_begin() { return std::exchange(to_replay_, {}); }

void ProcessDriver::replay(const ProcessReplay& replay, const Result<RecordedEvent>& reaction, Time now,
                           ProcessActions& actions, std::uint64_t read_at) {
  const auto gone = [&] { controls_.replays.erase(replay); };
  if (!reaction && reaction.error().code != ErrorCode::not_found) return to_replay_.push_back(replay);  // later
  if (!reaction || reaction->state != EventState::live || reaction->type != process_reacted_type ||
      !reaction->aggregate || reaction->aggregate->type != process_->type)
    return gone();
  auto reacted = decode_process_reacted(reaction->payload);  // of a newer program: it has no such effect here
  if (!reacted || replay.effect.number >= reacted->effects.size()) return gone();
  // Whoever asks, and however often: its instance is told once that it was performed.
  LaneId id(Kind::effect, id_of(reaction->position, replay.effect.number) + "/again");
  if (lanes_.contains(id)) return gone();
  Item item{Kind::effect, reaction->position};
  item.next = replay.effect.number;
  item.chain = chain_of(reaction->metadata_bytes());
  item.instance = reaction->aggregate->value;
  item.reaction = reaction->id;
  item.effect = std::move(reacted->effects[replay.effect.number]);
  item.replayed = replay.control;
  item.read_at = read_at;
  item.bytes = item.effect.payload.size();
  ++waiting_;
  waiting_bytes_ += item.bytes;
  lanes_[id].items.push_back(std::move(item));
  start(id, now, actions);
}

ProcessFailing ProcessDriver::failing(const LaneId& id, const Lane& lane) const {
  const Item& item = lane.items.front();
  ProcessFailing failing{instance_of(id, lane), place_of(id, item), item.event.type, lane.failures, lane.why};
  if (id.first == Kind::sent && item.next < item.commands.size()) failing.type = item.commands[item.next].type;
  if (id.first == Kind::effect) {
    failing.type = item.effect.type;
    failing.attempts = lane.attempts;
  }
  return failing;
}

ProcessDriver::Time ProcessDriver::wake_at() const {
  auto at = retries_.empty() ? never : retries_.begin()->first;
  if (!deadlines_.empty()) at = std::min(at, deadlines_.begin()->first);
  return at;
}

void ProcessDriver::timer(Time now, ProcessActions& actions) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now)
    performed(deadlines_.begin()->second, refuse(ErrorCode::timeout, "the handler says nothing"), now, actions);
  while (!retries_.empty() && retries_.begin()->first <= now) {
    const auto id = retries_.extract(retries_.begin()).mapped();
    Lane& lane = lanes_.at(id);
    lane.waits = false;
    hold_up(lane, false);
    start(id, now, actions);
  }
}

GlobalPosition ProcessDriver::position() const {
  return open_.empty() ? read_to_ : std::min(read_to_, open_.begin()->first - 1);
}

bool ProcessDriver::is_done(GlobalPosition position, std::uint32_t part) const {
  if (position > known_to_) return false;
  const auto open = known_open_.find(position);
  return open == known_open_.end() || open->second.contains(part);
}

ProcessCheckpoint ProcessDriver::checkpoint() const {
  auto checkpoint = controls_;
  checkpoint.position = position();
  std::erase_if(checkpoint.skipped, [&](const ProcessPlace& place) { return place.position <= checkpoint.position; });
  checkpoint.read_to = read_to_;
  checkpoint.done_to = std::max(read_to_, known_to_);
  for (const auto& [at, open] : open_) {
    if (checkpoint.open.size() > process_open_max) break;
    checkpoint.open.emplace_hint(checkpoint.open.end(), at, open.done);
  }
  for (const auto& [at, done] : known_open_) {
    if (checkpoint.open.size() > process_open_max) break;
    checkpoint.open.emplace_hint(checkpoint.open.end(), at, done);
  }
  if (checkpoint.open.size() > process_open_max) {  // items further behind are done again
    const auto last = std::prev(checkpoint.open.end());
    checkpoint.done_to = last->first - 1;
    checkpoint.open.erase(last);
  }
  auto of = status();
  checkpoint.failures = std::move(of.failures);
  checkpoint.trouble = std::move(of.trouble);
  checkpoint.figures = {.waiting = of.waiting,
                        .failing = of.failing,
                        .reacted = of.reacted,
                        .sent = of.sent,
                        .rejected = of.rejected,
                        .performed = of.performed,
                        .given_up = of.given_up,
                        .failed = of.failed};
  return checkpoint;
}

ProcessStatus ProcessDriver::status() const {
  auto status = figures_;
  status.runs_here = true;
  status.position = position();
  status.stopped = controls_.stopped;
  status.retired_at = controls_.retired_at;
  status.read_to = read_to_;
  status.waiting = waiting_;
  status.failing = retries_.size();
  if (retries_.empty()) status.trouble.clear();
  if (status.trouble.empty() && waits_for_others())
    status.trouble = "it waits until its former version has told its instances everything up to position " +
                     std::to_string(begins_behind_.value);
  for (const auto& [at, id] : retries_) {
    if (status.failures.size() == process_failures_max) break;
    status.failures.push_back(failing(id, lanes_.at(id)));
  }
  return status;
}

}  // namespace evershard::actors
