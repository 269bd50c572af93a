#include "evershard/protocol/processes.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/v1/processes.pb.h"

namespace evershard {
namespace {

namespace pb = v1;

Refused unreadable(std::string_view what) {
  return refuse(ErrorCode::corruption, std::string(what) + " of a process cannot be read");
}

template <class Message>
Result<Message> parsed(std::string_view bytes, std::string_view what) {
  Message message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return message;
  return unreadable(what);
}

void put(const ProcessCommand& from, pb::ProcessCommand& to) {
  to.set_aggregate(from.aggregate.text());
  to.set_type(from.type);
  to.set_payload(from.payload);
}

Result<ProcessCommand> command_of(const pb::ProcessCommand& from) {
  auto aggregate = AggregateId::parse(from.aggregate());
  if (!aggregate) return refuse(ErrorCode::corruption, "a command of a process: " + aggregate.error().what);
  return ProcessCommand{*std::move(aggregate), from.type(), from.payload()};
}

void put(const ProcessPlace& from, pb::ProcessPlace& to) {
  to.set_what(static_cast<pb::ProcessItem>(from.what));
  to.set_position(from.position.value);
  to.set_number(from.number);
}

Result<ProcessPlace> place_of(pb::ProcessItem what, std::uint64_t position, std::uint32_t number) {
  if (what < pb::PROCESS_ITEM_EVENT || what > pb::PROCESS_ITEM_EFFECT)
    return refuse(ErrorCode::corruption, "of a process something is named that is neither event, command nor effect");
  return ProcessPlace{static_cast<ProcessPlace::What>(what), GlobalPosition{position}, number};
}

constexpr std::array<std::pair<ProcessPlace::What, std::string_view>, 3> words{
    {{ProcessPlace::What::event, "event"},
     {ProcessPlace::What::command, "command"},
     {ProcessPlace::What::effect, "effect"}}};

}  // namespace

std::string ProcessPlace::text() const {
  const auto word = std::ranges::find(words, what, &std::pair<What, std::string_view>::first)->second;
  auto text = std::string(word) + "/" + std::to_string(position.value);
  return what == What::event ? text : text + "/" + std::to_string(number);
}

Result<ProcessPlace> ProcessPlace::parse(std::string_view text) {
  const char* const end = text.data() + text.size();
  for (const auto& [what, word] : words) {
    if (!text.starts_with(word) || text.size() <= word.size() || text[word.size()] != '/') continue;
    ProcessPlace place{what};
    auto read = std::from_chars(text.data() + word.size() + 1, end, place.position.value);
    if (read.ec == std::errc() && what != What::event && read.ptr != end && *read.ptr == '/')
      read = std::from_chars(read.ptr + 1, end, place.number);
    else if (what != What::event)
      break;
    if (read.ec == std::errc() && read.ptr == end && place.position.value != 0) return place;
    break;
  }
  return refuse(ErrorCode::invalid_argument, in_quotes(std::string(text)) +
                                                 " is none of event/POSITION, command/POSITION/NUMBER and "
                                                 "effect/POSITION/NUMBER");
}

Tag process_tag(std::string_view process) { return "$process:" + std::string(process); }

AggregateId process_log(std::string_view process) { return {std::string(process_log_type), std::string(process)}; }

Append retiring(const std::vector<std::string>& processes, std::string_view successor) {
  Append append;
  std::string names(successor);
  for (const auto& process : processes) {
    Event event;
    event.aggregate = process_log(process);
    event.type = std::string(process_retired_type);
    event.tags = {process_tag(process)};
    event.payload = std::string(successor);
    event.format = PayloadFormat::text;
    append.event(std::move(event));
    names += '\0' + process;
  }
  const auto hash = XXH3_128bits(names.data(), names.size());
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  RequestId id;
  std::copy(std::begin(bytes.digest), std::end(bytes.digest), id.bytes.begin());
  append.request(id);
  return append;
}

Event controlling(std::string_view process, const ProcessControl& control) {
  Event event;
  event.aggregate = process_log(process);
  event.type = std::string(process_controlled_type);
  event.payload = encode(control);
  event.format = PayloadFormat::protobuf;
  return event;
}

std::string encode(const ProcessEvent& told) {
  const auto& event = told.event;
  pb::ProcessEvent message;
  message.set_position(event.position.value);
  message.set_type(event.type);
  message.set_payload(event.payload);
  if (event.aggregate) message.set_aggregate(event.aggregate->text());
  message.set_id(std::string(reinterpret_cast<const char*>(event.id.bytes.data()), event.id.bytes.size()));
  message.set_occurred_at_us(event.occurred_at.micros);
  for (const auto& tag : event.tags) message.add_tags(tag);
  message.set_seq_nr(event.seq_nr.value);
  message.set_subject(event.subject);
  message.set_begins_none(told.begins_none);
  return message.SerializeAsString();
}

Result<ProcessEvent> decode_process_event(std::string_view bytes) {
  auto message = parsed<pb::ProcessEvent>(bytes, "an event");
  if (!message) return refuse(std::move(message).error());
  ProcessEvent told;
  auto& event = told.event;
  event.position = GlobalPosition{message->position()};
  event.type = message->type();
  event.payload = message->payload();
  if (!message->aggregate().empty()) {
    auto aggregate = AggregateId::parse(message->aggregate());
    if (!aggregate) return refuse(ErrorCode::corruption, "an event of a process: " + aggregate.error().what);
    event.aggregate = *std::move(aggregate);
  }
  if (message->id().size() != event.id.bytes.size())
    return refuse(ErrorCode::corruption, "an event of a process has no id");
  std::copy(message->id().begin(), message->id().end(), event.id.bytes.begin());
  event.occurred_at = Timestamp{message->occurred_at_us()};
  event.tags.assign(message->tags().begin(), message->tags().end());
  event.seq_nr = SeqNr{message->seq_nr()};
  event.subject = message->subject();
  told.begins_none = message->begins_none();
  return told;
}

std::string encode(const ProcessTimer& timer) {
  pb::ProcessTimer message;
  message.set_type(timer.type);
  message.set_payload(timer.payload);
  return message.SerializeAsString();
}

Result<ProcessTimer> decode_process_timer(std::string_view bytes) {
  auto message = parsed<pb::ProcessTimer>(bytes, "a timer");
  if (!message) return refuse(std::move(message).error());
  return ProcessTimer{message->type(), message->payload()};
}

std::string encode(const ProcessRejection& rejection) {
  pb::ProcessRejection message;
  message.set_reaction(rejection.reaction.value);
  message.set_number(rejection.number);
  put(rejection.command, *message.mutable_command());
  message.set_reason(rejection.reason);
  message.set_tag(rejection.tag);
  message.set_taken_at(rejection.taken_at.value);
  return message.SerializeAsString();
}

Result<ProcessRejection> decode_process_rejection(std::string_view bytes) {
  auto message = parsed<pb::ProcessRejection>(bytes, "a rejection");
  if (!message) return refuse(std::move(message).error());
  auto command = command_of(message->command());
  if (!command) return refuse(std::move(command).error());
  return ProcessRejection{
      GlobalPosition{message->reaction()}, message->number(), *std::move(command), message->reason(), message->tag(),
      GlobalPosition{message->taken_at()}};
}

std::string encode(const ProcessPerformed& performed) {
  pb::ProcessPerformed message;
  message.set_reaction(performed.reaction.value);
  message.set_number(performed.number);
  message.mutable_effect()->set_type(performed.effect.type);
  message.mutable_effect()->set_payload(performed.effect.payload);
  message.set_done(performed.done);
  message.set_answer(performed.answer);
  message.set_reason(performed.reason);
  return message.SerializeAsString();
}

Result<ProcessPerformed> decode_process_performed(std::string_view bytes) {
  auto message = parsed<pb::ProcessPerformed>(bytes, "an effect");
  if (!message) return refuse(std::move(message).error());
  return ProcessPerformed{GlobalPosition{message->reaction()},
                          message->number(),
                          {message->effect().type(), message->effect().payload()},
                          message->done(),
                          message->answer(),
                          message->reason()};
}

std::string encode(const ProcessReacted& reacted) {
  pb::ProcessReacted message;
  message.set_cause(static_cast<pb::ProcessReacted::Cause>(reacted.cause));
  message.set_position(reacted.position.value);
  message.set_number(reacted.number);
  message.set_type(reacted.type);
  for (const auto& command : reacted.commands) put(command, *message.add_commands());
  message.set_ended(reacted.ended);
  for (const auto& effect : reacted.effects) {
    auto& put = *message.add_effects();
    put.set_type(effect.type);
    put.set_payload(effect.payload);
  }
  message.set_reason(reacted.reason);
  return message.SerializeAsString();
}

Result<ProcessReacted> decode_process_reacted(std::string_view bytes) {
  auto message = parsed<pb::ProcessReacted>(bytes, "a reaction");
  if (!message) return refuse(std::move(message).error());
  ProcessReacted reacted;
  if (message->cause() < pb::ProcessReacted::CAUSE_EVENT || message->cause() > pb::ProcessReacted::CAUSE_NOT_PERFORMED)
    return refuse(ErrorCode::corruption, "a reaction of a process has no cause that is known");
  reacted.cause = static_cast<ProcessReacted::Cause>(message->cause());
  reacted.position = GlobalPosition{message->position()};
  reacted.number = message->number();
  reacted.type = message->type();
  for (const auto& of : message->commands()) {
    auto command = command_of(of);
    if (!command) return refuse(std::move(command).error());
    reacted.commands.push_back(*std::move(command));
  }
  reacted.ended = message->ended();
  for (const auto& effect : message->effects()) reacted.effects.push_back({effect.type(), effect.payload()});
  reacted.reason = message->reason();
  return reacted;
}

std::string encode(const ProcessStateBytes& state) {
  pb::ProcessState message;
  message.set_state(state.state);
  message.set_reacted_to(state.reacted_to.value);
  message.set_ended(state.ended);
  return message.SerializeAsString();
}

Result<ProcessStateBytes> decode_process_state(std::string_view bytes) {
  auto message = parsed<pb::ProcessState>(bytes, "a state");
  if (!message) return refuse(std::move(message).error());
  return ProcessStateBytes{message->state(), GlobalPosition{message->reacted_to()}, message->ended()};
}

std::string encode(const ProcessControl& control) {
  pb::ProcessControl message;
  message.set_action(static_cast<pb::ProcessControl::Action>(control.action));
  message.set_instance(control.instance);
  message.set_position(control.place.position.value);
  message.set_number(control.place.number);
  message.set_what(static_cast<pb::ProcessItem>(control.place.what));
  return message.SerializeAsString();
}

Result<ProcessControl> decode_process_control(std::string_view bytes) {
  auto message = parsed<pb::ProcessControl>(bytes, "a control");
  if (!message) return refuse(std::move(message).error());
  if (message->action() < pb::ProcessControl::ACTION_STOP || message->action() > pb::ProcessControl::ACTION_REPLAY)
    return refuse(ErrorCode::corruption, "a control of a process has no action that is known");
  ProcessControl control{static_cast<ProcessControl::Action>(message->action()), message->instance()};
  const bool has_place =
      control.action == ProcessControl::Action::skip || control.action == ProcessControl::Action::replay;
  if (has_place) {
    const auto place = place_of(message->what(), message->position(), message->number());
    if (!place) return refuse(place.error());
    control.place = *place;
  }
  return control;
}

std::string encode(const ProcessCheckpoint& checkpoint) {
  pb::ProcessCheckpoint message;
  message.set_position(checkpoint.position.value);
  message.set_controls_to(checkpoint.controls_to.value);
  message.set_stopped(checkpoint.stopped);
  for (const auto& instance : checkpoint.stopped_instances) message.add_stopped_instances(instance);
  for (const auto& place : checkpoint.skipped) put(place, *message.add_skipped());
  for (const auto& [effect, control] : checkpoint.replays) {
    auto& place = *message.add_replays();
    put(effect, place);
    place.set_control(control.value);
  }
  message.set_read_to(checkpoint.read_to.value);
  for (const auto& failing : checkpoint.failures) {
    auto& to = *message.add_failures();
    to.set_instance(failing.instance);
    to.set_what(static_cast<pb::ProcessItem>(failing.place.what));
    to.set_position(failing.place.position.value);
    to.set_number(failing.place.number);
    to.set_type(failing.type);
    to.set_attempts(failing.attempts);
    to.set_why(failing.why);
  }
  message.set_trouble(checkpoint.trouble);
  message.set_runs_at(checkpoint.runs_at);
  message.set_retired_at(checkpoint.retired_at.value);
  message.set_ended(checkpoint.ended);
  message.set_fork(checkpoint.place.fork());
  for (const auto& at : checkpoint.place.marks()) {
    auto& mark = *message.add_marks();
    mark.set_position(at.position.value);
    mark.set_event(at.event.bytes.data(), at.event.bytes.size());
  }
  message.set_done_to(checkpoint.done_to.value);
  for (const auto& [position, done] : checkpoint.open) {
    auto& open = *message.add_open();
    open.set_position(position.value);
    for (const auto part : done) open.add_done(part);
  }
  const auto& figures = checkpoint.figures;
  message.set_waiting(figures.waiting);
  message.set_failing(figures.failing);
  message.set_reacted(figures.reacted);
  message.set_sent(figures.sent);
  message.set_rejected(figures.rejected);
  message.set_performed(figures.performed);
  message.set_given_up(figures.given_up);
  message.set_failed(figures.failed);
  message.set_damaged(figures.damaged);
  return message.SerializeAsString();
}

void ProcessCheckpoint::fall_back(GlobalPosition to) {
  position = std::min(position, to);
  controls_to = std::min(controls_to, to);
  read_to = std::min(read_to, to);
  if (retired_at > to) retired_at = GlobalPosition{0};
  done_to = std::min(done_to, to);
  open.erase(open.upper_bound(to), open.end());
  std::erase_if(skipped, [&](const ProcessPlace& at) { return at.position > to; });
  std::erase_if(replays, [&](const ProcessReplay& at) { return at.effect.position > to || at.control > to; });
  std::erase_if(failures, [&](const ProcessFailing& at) { return at.place.position > to; });
  place.cut_back(to);
}

Result<ProcessCheckpoint> decode_process_checkpoint(std::string_view bytes) {
  auto message = parsed<pb::ProcessCheckpoint>(bytes, "a checkpoint");
  if (!message) return refuse(std::move(message).error());
  ProcessCheckpoint checkpoint;
  checkpoint.position = GlobalPosition{message->position()};
  checkpoint.controls_to = GlobalPosition{message->controls_to()};
  checkpoint.stopped = message->stopped();
  checkpoint.stopped_instances.insert(message->stopped_instances().begin(), message->stopped_instances().end());
  for (const auto& from : message->skipped()) {
    const auto place = place_of(from.what(), from.position(), from.number());
    if (!place) return refuse(place.error());
    checkpoint.skipped.insert(*place);
  }
  for (const auto& from : message->replays()) {
    const auto place = place_of(from.what(), from.position(), from.number());
    if (!place) return refuse(place.error());
    checkpoint.replays.insert({*place, GlobalPosition{from.control()}});
  }
  checkpoint.read_to = GlobalPosition{message->read_to()};
  for (const auto& from : message->failures()) {
    const auto place = place_of(from.what(), from.position(), from.number());
    if (!place) return refuse(place.error());
    checkpoint.failures.push_back({from.instance(), *place, from.type(), from.attempts(), from.why()});
  }
  checkpoint.trouble = message->trouble();
  checkpoint.runs_at = message->runs_at();
  checkpoint.retired_at = GlobalPosition{message->retired_at()};
  checkpoint.ended = message->ended();
  checkpoint.place.set_fork(message->fork());
  for (const auto& mark : message->marks()) {
    EventId id;
    if (mark.event().size() != id.bytes.size()) continue;
    std::ranges::copy(mark.event(), id.bytes.begin());
    checkpoint.place.add({GlobalPosition{mark.position()}, id});
  }
  checkpoint.done_to = GlobalPosition{message->done_to()};
  for (const auto& open : message->open())
    checkpoint.open[GlobalPosition{open.position()}].insert(open.done().begin(), open.done().end());
  checkpoint.figures = {message->waiting(),  message->failing(),  message->reacted(),
                        message->sent(),     message->rejected(), message->performed(),
                        message->given_up(), message->failed(),   message->damaged()};
  return checkpoint;
}

}  // namespace evershard
