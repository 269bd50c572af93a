#include "evershard/protocol/processes.hpp"

#include <utility>

#include "evershard/v1/processes.pb.h"

namespace evershard {
namespace {

namespace pb = v1;

template <class Message>
Result<Message> parsed(std::string_view bytes, const char* what) {
  Message message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return message;
  return refuse(ErrorCode::corruption, std::string(what) + " of a process cannot be read");
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

}  // namespace

Tag process_tag(std::string_view process) { return "$process:" + std::string(process); }

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

std::string encode_process_checkpoint(GlobalPosition position) {
  pb::ProcessCheckpoint message;
  message.set_position(position.value);
  return message.SerializeAsString();
}

Result<GlobalPosition> decode_process_checkpoint(std::string_view bytes) {
  auto message = parsed<pb::ProcessCheckpoint>(bytes, "a checkpoint");
  if (!message) return refuse(std::move(message).error());
  return GlobalPosition{message->position()};
}

}  // namespace evershard
