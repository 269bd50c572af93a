// What every answer and the end of a run are held against.

#include <algorithm>
#include <utility>

#include "tests/actors/entity/entity_simulation.hpp"

namespace evershard::actors {
namespace {

std::int64_t amount_of(const std::string& text) { return std::stoll(text.substr(text.rfind(':') + 1)); }

}  // namespace

std::string EntitySimulation::state_text(const AggregateId& aggregate, SeqNr version) const {
  const StatePtr state = kind_->initial();
  for (const auto& event : journal_.events) {
    if (event.aggregate != aggregate || event.seq_nr > version) continue;
    if (!kind_->apply(*state, event.type, event.payload)) return "not applied";
  }
  return CounterKind::text_of(*state);
}

std::int64_t EntitySimulation::sum_of(const AggregateId& aggregate) const {
  return std::stoll(state_text(aggregate, journal_.version(aggregate)));
}

std::size_t EntitySimulation::events_of(const std::string& token) const {
  std::size_t count = 0;
  for (const auto& event : journal_.events) count += event.payload.starts_with(token + ":") ? 1 : 0;
  return count;
}

void EntitySimulation::check_answer(Caller& caller, const AnyAnswer& answer) {
  const Command& command = commands_[caller.command];
  const std::string name = command.text + " " + command.id + " on " + command.aggregate.value;
  if (std::exchange(caller.answered, true)) wrong("answered twice: " + name);
  if (caller.process != process_) wrong("answered by another process: " + name);
  if (answer.kind == AnswerKind::failed) {
    const auto code = answer.error.code;
    const bool open = code == ErrorCode::timeout || code == ErrorCode::cancelled;
    if (!open && command.id.empty()) refused_.insert(caller.command);
    if (!faults_ && !outsiders_ && code == ErrorCode::version_conflict) wrong("a conflict with nobody: " + name);
    return;
  }
  if (answer.version > journal_.version(command.aggregate)) wrong("answered before it was durable: " + name);
  if (!answer.duplicate && answer.version < caller.seen) wrong("saw less than was answered before: " + name);
  const std::string state = state_text(command.aggregate, answer.version);
  if (caller.acknowledged && !answer.duplicate) wrong("carried out before, and not told so: " + name);
  if (answer.kind == AnswerKind::rejected) {
    if (command.text.starts_with("take") && std::stoll(state) >= amount_of(command.text))
      wrong("rejected by what never was: " + name);
    if (command.text.starts_with("take") && answer.rejection != "only " + state)
      wrong("a rejection that saw something else: " + name);
  } else {
    if (answer.reply != state) wrong("the reply is " + answer.reply + ", the stream says " + state + ": " + name);
    if (command.events > 0) {
      acknowledged_.insert(caller.command);
      if (events_of(command.token) != command.events) wrong("acknowledged and not there: " + name);
      if (journal_.events[answer.position.value - 1].payload.find(command.token + ":") != 0)
        wrong("another position: " + name);
    }
    if (command.events > 0 && !command.id.empty()) {
      const AnyAnswer& stored = reply_of_id_.emplace(command.id, answer).first->second;
      if (stored.reply != answer.reply || stored.version != answer.version || stored.position != answer.position)
        wrong("two replies: " + name);
    }
    if (!answer.duplicate) answered_[command.aggregate] = std::max(answered_[command.aggregate], answer.version);
  }
}

void EntitySimulation::check_end() {
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const Command& command = commands_[i];
    const std::size_t count = events_of(command.token);
    if (count != 0 && count != command.events) wrong("not whole or not once: " + command.text);
    if (acknowledged_.contains(i) && count == 0) wrong("acknowledged and lost: " + command.text);
    if (refused_.contains(i) && count != 0) wrong("refused and written: " + command.text);
  }
  std::int64_t booked = 0;
  for (const auto& event : journal_.events) booked += event.type == "booked" ? 1 : 0;
  if (booked > simulated_seats) wrong("more seats than there are");
  for (std::uint64_t a = 0; a < simulated_aggregates; ++a) {
    const AggregateId aggregate{"counter", std::to_string(a)};
    for (std::uint64_t v = 0; v <= journal_.version(aggregate).value; ++v) {
      if (std::stoll(state_text(aggregate, SeqNr{v})) < 0)
        wrong("a sum below zero: a decision over a history that never was");
    }
    crash();
    const AskTicket ticket{++tickets_};
    commands_.push_back({aggregate, "get", "", "none", 0});
    callers_[ticket.value] = {commands_.size() - 1, process_, answered_[aggregate], false, false};
    table_->ask(aggregate, {ticket, AskKind::command, actors::command("get"), "", {}}, now_, actions_);
    absorb();
    for (int i = 0; i < 1'000 && (permits_ > 0 || !pending_.empty()); ++i) advance_pending();
    if (!callers_[ticket.value].answered) wrong("a new process does not answer");
  }
}

}  // namespace evershard::actors
