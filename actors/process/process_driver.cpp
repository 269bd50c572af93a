#include "evershard/actors/process/process_driver.hpp"

#include <algorithm>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {
namespace {

constexpr std::string_view ids_begin = "$process/";  ///< of commands: positions are unique in a store

std::string id_of(GlobalPosition position) { return std::string(ids_begin) + std::to_string(position.value); }
std::string id_of(GlobalPosition position, std::uint32_t number) {
  return id_of(position) + "/" + std::to_string(number);
}

}  // namespace

ProcessDriver::ProcessDriver(std::shared_ptr<const ProcessDefinition> process, GlobalPosition checkpoint,
                             GlobalPosition taken_at, ProcessOptions options)
    : process_(std::move(process)), taken_at_(taken_at), options_(options), read_to_(checkpoint) {
  figures_.type = process_->type;
}

Query ProcessDriver::query(const ProcessDefinition& process) {
  if (process.query.is_all()) return process.query;
  auto items = process.query.items();
  items.push_back({{std::string(process_reacted_type)}, {process_tag(process.type)}, {}});
  return Query::of(std::move(items));
}

// What waits to be sent until rejections are known does not count: they are behind it.
bool ProcessDriver::is_full() {
  const auto waits = knows_rejections() ? waiting_ : told_waiting_;
  full_ = full_ ? 4 * waits > 3 * options_.waiting_max : waits >= options_.waiting_max;
  return full_;
}

void ProcessDriver::events(const std::vector<RecordedEvent>& events, GlobalPosition read_to, Time now,
                           ProcessActions& actions) {
  const bool knew = knows_rejections();
  std::vector<LaneId> touched;
  for (const auto& event : events) {
    if (event.position <= read_to_) continue;
    const auto before = waiting_;
    event.type == process_reacted_type ? take_reaction(event) : take(event);
    read_to_ = event.position;
    if (waiting_ != before) touched.push_back(std::move(held_.back())), held_.pop_back();
  }
  read_to_ = std::max(read_to_, read_to);
  for (auto& id : touched) {
    if (id.first == Kind::sent && !knows_rejections())
      held_.push_back(std::move(id));
    else
      start(id, now, actions);
  }
  if (!knew && knows_rejections())
    for (const auto& id : std::exchange(held_, {})) start(id, now, actions);
}

void ProcessDriver::take(const RecordedEvent& event) {
  if (event.state != EventState::live || !process_->reacts.contains(event.type)) return;
  const auto key = process_->key(event);
  if (key && key->empty()) return;  // for no instance
  const bool known = key && AggregateId::check(instance(*key));
  ++told_waiting_;
  add({Kind::told, known ? *key : std::string()}, {event.position, event});
}

void ProcessDriver::take_reaction(const RecordedEvent& event) {
  if (event.state != EventState::live || !event.aggregate || event.aggregate->type != process_->type) return;
  auto reacted = decode_process_reacted(event.payload);
  if (!reacted) {
    figures_.trouble = "position " + std::to_string(event.position.value) + ": " + reacted.error().what;
    ++figures_.failed;
    return;
  }
  if (reacted->cause == ProcessReacted::Cause::rejection && !knows_rejections())
    rejected_.emplace(reacted->position, reacted->number);
  if (reacted->commands.empty()) return;
  add({Kind::sent, event.aggregate->value}, {event.position, {}, std::move(reacted->commands)});
}

void ProcessDriver::add(LaneId id, Item item) {
  open_.push_back({item.position, false});
  ++waiting_;
  lanes_[id].items.push_back(std::move(item));
  held_.push_back(std::move(id));
}

void ProcessDriver::start(const LaneId& id, Time now, ProcessActions& actions) {
  const auto found = lanes_.find(id);
  if (found == lanes_.end()) return;
  Lane& lane = found->second;
  if (lane.busy || lane.waits) return;
  while (!lane.items.empty()) {
    auto ask = ask_of(id, lane.items.front(), now);
    if (lane.waits) return;
    if (!ask) {
      done(lane);
      continue;
    }
    lane.busy = true;
    ask->number = ++number_;
    asked_.emplace(ask->number, id);
    actions.asks.push_back(std::move(*ask));
    return;
  }
  lanes_.erase(found);
}

/// Nothing: the item is done with; or the lane waits.
std::optional<ProcessActions::Ask> ProcessDriver::ask_of(const LaneId& id, Item& item, Time now) {
  if (id.first == Kind::told) {
    if (id.second.empty()) {  // whose it is could not be said
      const auto key = process_->key(item.event);
      const auto ok = key ? AggregateId::check(instance(*key)) : tl::expected<void, Error>();
      if (!key || !ok) {
        failed(key ? ok.error().what : key.error().what, lanes_.at(id), now, id);
        return std::nullopt;
      }
      return ProcessActions::Ask{0, instance(*key), std::string(process_event_type), encode(ProcessEvent{item.event}),
                                 id_of(item.position)};
    }
    return ProcessActions::Ask{0, instance(id.second), std::string(process_event_type),
                               encode(ProcessEvent{item.event}), id_of(item.position)};
  }
  while (item.next != item.commands.size() && rejected_.contains({item.position, item.next})) ++item.next;
  if (item.next == item.commands.size()) return std::nullopt;
  const auto& command = item.commands[item.next];
  if (item.rejected)
    return ProcessActions::Ask{0, instance(id.second), std::string(process_rejection_type),
                               encode(ProcessRejection{item.position, item.next, command, item.reason,
                                                       process_tag(process_->type), taken_at_}),
                               id_of(item.position, item.next) + "/rejected"};
  return ProcessActions::Ask{0, command.aggregate, command.type, command.payload, id_of(item.position, item.next)};
}

void ProcessDriver::answered(std::uint64_t number, const AnyAnswer& answer, Time now, ProcessActions& actions) {
  const auto found = asked_.find(number);
  if (found == asked_.end()) return;
  const auto id = std::move(found->second);
  asked_.erase(found);
  Lane& lane = lanes_.at(id);
  lane.busy = false;
  id.first == Kind::told ? told(answer, lane, now, id) : sent(answer, lane, now, id, actions);
  if (!actions.over) start(id, now, actions);
}

void ProcessDriver::told(const AnyAnswer& answer, Lane& lane, Time now, const LaneId& id) {
  if (answer.kind != AnswerKind::replied) return failed(answer.error.what, lane, now, id);
  ++figures_.reacted;
  done(lane);
}

void ProcessDriver::sent(const AnyAnswer& answer, Lane& lane, Time now, const LaneId& id, ProcessActions& actions) {
  Item& item = lane.items.front();
  if (answer.kind == AnswerKind::failed) {
    if (item.rejected && answer.error.code == ErrorCode::condition_failed) {
      actions.over = true;
      return;
    }
    return failed(answer.error.what, lane, now, id);
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
  if (item.commands.empty()) --told_waiting_;
  --waiting_;
  std::ranges::lower_bound(open_, item.position, {}, &Open::position)->done = true;
  while (!open_.empty() && open_.front().done) open_.pop_front();
  lane.items.pop_front();
}

void ProcessDriver::failed(const std::string& why, Lane& lane, Time now, const LaneId& id) {
  ++figures_.failed;
  figures_.trouble = (id.second.empty() ? std::string("an event") : in_quotes(instance(id.second).text())) +
                     ", position " + std::to_string(lane.items.front().position.value) + ": " + why;
  auto wait = options_.retry_first;
  for (std::uint32_t n = 0; n != lane.failures && wait < options_.retry_most; ++n) wait *= 2;
  ++lane.failures;
  lane.waits = true;
  retries_.emplace(now + std::min(wait, options_.retry_most), id);
}

void ProcessDriver::timer(Time now, ProcessActions& actions) {
  while (!retries_.empty() && retries_.begin()->first <= now) {
    const auto id = retries_.extract(retries_.begin()).mapped();
    lanes_.at(id).waits = false;
    start(id, now, actions);
  }
}

GlobalPosition ProcessDriver::checkpoint() const {
  return open_.empty() ? read_to_ : std::min(read_to_, open_.front().position - 1);
}

ProcessStatus ProcessDriver::status() const {
  auto status = figures_;
  status.runs_here = true;
  status.position = checkpoint();
  status.read_to = read_to_;
  status.waiting = waiting_;
  status.failing = retries_.size();
  if (retries_.empty()) status.trouble.clear();
  return status;
}

}  // namespace evershard::actors
