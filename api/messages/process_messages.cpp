#include "evershard/api/messages/process_messages.hpp"

#include <utility>

#include "evershard/api/messages/messages.hpp"

namespace evershard::messages {
namespace {

/// What is stored is said in the same words: by its codec.
template <class Value, class Message>
void put_stored(const Value& from, Message& to) {
  to.ParseFromString(encode(from));
}

template <class Value>
Result<void> taken(Result<Value> from, Value& to) {
  if (!from) return refuse(ErrorCode::invalid_argument, from.error().what);
  to = *std::move(from);
  return {};
}

/// Those that an instance has are those of a checkpoint.
void put_failures(const std::vector<ProcessFailing>& from, google::protobuf::RepeatedPtrField<pb::ProcessFailing>& to) {
  pb::ProcessCheckpoint checkpoint;
  put_stored(ProcessCheckpoint{.failures = from}, checkpoint);
  to = std::move(*checkpoint.mutable_failures());
}

}  // namespace

void put(const ProcessInfo& from, pb::ProcessInfo& to) {
  to.set_name(from.name);
  put_stored(from.state, *to.mutable_state());
  to.set_head(from.head.value);
  if (from.said_at) to.set_said_us(from.said_at->micros);
  to.set_taken_us(from.taken_at.micros);
  to.set_running(from.running);
}

void put(const ProcessInstance& from, pb::ProcessInstance& to) {
  to.set_instance(from.instance);
  to.set_version(from.version.value);
  to.set_last_position(from.last_position.value);
  to.set_stopped(from.stopped);
  put_failures(from.failures, *to.mutable_failures());
}

void put(const ParkedEffect& from, pb::ParkedEffect& to) {
  to.set_instance(from.instance);
  to.mutable_place()->set_what(static_cast<pb::ProcessItem>(from.place.what));
  to.mutable_place()->set_position(from.place.position.value);
  to.mutable_place()->set_number(from.place.number);
  to.set_type(from.type);
  to.set_reason(from.reason);
  to.set_parked_us(from.parked_at.micros);
  to.set_replaying(from.replaying);
}

void put(const PendingTimer& from, pb::PendingTimer& to) {
  put(from.aggregate, *to.mutable_aggregate());
  pb::TimersChanged changed;
  put_stored(TimersChanged{.set = {from.timer}}, changed);
  *to.mutable_timer() = std::move(*changed.mutable_set(0));
  to.set_due_us(from.due.micros);
  to.set_set_at(from.set_at.value);
}

void put(const ProcessControl& from, pb::ProcessControl& to) { put_stored(from, to); }

Result<void> get(const pb::ProcessInfo& from, ProcessInfo& to) {
  to.name = from.name();
  EVERSHARD_TRY(taken(decode_process_checkpoint(from.state().SerializeAsString()), to.state));
  to.head = GlobalPosition(from.head());
  if (from.said_us() != 0) to.said_at = Timestamp{from.said_us()};
  to.taken_at = Timestamp{from.taken_us()};
  to.running = from.running();
  return {};
}

Result<void> get(const pb::ProcessInstance& from, ProcessInstance& to) {
  to.instance = from.instance();
  to.version = SeqNr(from.version());
  to.last_position = GlobalPosition(from.last_position());
  to.stopped = from.stopped();
  pb::ProcessCheckpoint failures;
  *failures.mutable_failures() = from.failures();
  ProcessCheckpoint checkpoint;
  EVERSHARD_TRY(taken(decode_process_checkpoint(failures.SerializeAsString()), checkpoint));
  to.failures = std::move(checkpoint.failures);
  return {};
}

Result<void> get(const pb::ParkedEffect& from, ParkedEffect& to) {
  to.instance = from.instance();
  if (from.place().what() != pb::PROCESS_ITEM_EFFECT)
    return refuse(ErrorCode::invalid_argument, "what was given up is no effect");
  to.place = {ProcessPlace::What::effect, GlobalPosition(from.place().position()), from.place().number()};
  to.type = from.type();
  to.reason = from.reason();
  to.parked_at = Timestamp{from.parked_us()};
  to.replaying = from.replaying();
  return {};
}

Result<void> get(const pb::PendingTimer& from, PendingTimer& to) {
  to.aggregate = aggregate_of(from.aggregate());
  pb::TimersChanged changed;
  *changed.add_set() = from.timer();
  TimersChanged read;
  EVERSHARD_TRY(taken(decode_timers_changed(changed.SerializeAsString()), read));
  to.timer = std::move(read.set.at(0));
  to.due = Timestamp{from.due_us()};
  to.set_at = GlobalPosition(from.set_at());
  return {};
}

Result<void> get(const pb::ProcessControl& from, ProcessControl& to) {
  return taken(decode_process_control(from.SerializeAsString()), to);
}

}  // namespace evershard::messages
