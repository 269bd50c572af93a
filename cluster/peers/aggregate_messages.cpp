#include "evershard/cluster/peers/aggregate_messages.hpp"

#include <algorithm>
#include <limits>

#include "evershard/protocol/messages.hpp"
#include "evershard/v1/aggregates.pb.h"

namespace evershard::cluster {
namespace {

namespace wire = evershard::v1;

template <class Message>
bool parse_whole(std::string_view bytes, Message& message) {
  return bytes.size() <= std::numeric_limits<int>::max() &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

std::string encode(const AggregateAsked& asked) {
  wire::AggregateAsked message;
  message.set_what(static_cast<std::uint32_t>(asked.what));
  message.mutable_aggregate()->set_type(asked.aggregate.type);
  message.mutable_aggregate()->set_value(asked.aggregate.value);
  message.set_command_type(asked.command_type);
  message.set_command(asked.command);
  message.set_command_id(asked.command_id);
  message.set_time_ms(static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(asked.time.count(), 0, std::numeric_limits<std::uint32_t>::max())));
  message.set_position(asked.position.value);
  message.set_chain(asked.chain);
  if (asked.fail_if) {
    messages::put(asked.fail_if->query, *message.mutable_fail_if()->mutable_query());
    message.mutable_fail_if()->set_after(asked.fail_if->after.value);
  }
  return message.SerializeAsString();
}

Result<AggregateAsked> decode_aggregate_asked(std::string_view bytes) {
  wire::AggregateAsked message;
  AggregateAsked asked;
  if (!parse_whole(bytes, message))
    return refuse(ErrorCode::corruption, "a peer's message is nothing asked of an aggregate");
  const auto first = static_cast<std::uint32_t>(AggregateAsked::What::command),
             last = static_cast<std::uint32_t>(AggregateAsked::What::passivate);
  if (message.what() < first || message.what() > last)
    return refuse(ErrorCode::corruption,
                  "a peer asks of an aggregate what is not known here: " + std::to_string(message.what()));
  asked.what = static_cast<AggregateAsked::What>(message.what());
  asked.aggregate = {message.aggregate().type(), message.aggregate().value()};
  if (auto checked = AggregateId::check(asked.aggregate); !checked)
    return refuse(ErrorCode::corruption, "a peer asks of an aggregate that cannot be: " + checked.error().what);
  asked.command_type = std::move(*message.mutable_command_type());
  asked.command = std::move(*message.mutable_command());
  asked.command_id = std::move(*message.mutable_command_id());
  asked.time = std::chrono::milliseconds(message.time_ms());
  asked.position = GlobalPosition{message.position()};
  asked.chain = message.chain();
  if (message.has_fail_if()) {
    if (auto read = messages::get(*message.mutable_fail_if(), asked.fail_if.emplace()); !read)
      return refuse(ErrorCode::corruption,
                    "a peer asks of an aggregate on a condition that cannot be: " + read.error().what);
  }
  return asked;
}

std::string encode(const AggregateAnswered& answered) {
  wire::AggregateAnswered message;
  const auto& answer = answered.answer;
  switch (answer.kind) {
    case AnswerKind::replied:
      message.set_kind(wire::AggregateAnswered::KIND_REPLIED);
      break;
    case AnswerKind::rejected:
      message.set_kind(wire::AggregateAnswered::KIND_REJECTED);
      break;
    case AnswerKind::failed:
      message.set_kind(wire::AggregateAnswered::KIND_FAILED);
      break;
  }
  message.set_reply(answer.reply);
  message.set_rejection(answer.rejection);
  if (answer.kind == AnswerKind::failed) messages::put(answer.error, *message.mutable_error());
  message.set_duplicate(answer.duplicate);
  message.set_version(answer.version.value);
  message.set_position(answer.position.value);
  message.set_format(static_cast<std::uint32_t>(answered.format));
  return message.SerializeAsString();
}

Result<AggregateAnswered> decode_aggregate_answered(std::string_view bytes) {
  const auto malformed = [] { return refuse(ErrorCode::corruption, "a peer's message is no aggregate's answer"); };
  wire::AggregateAnswered message;
  AggregateAnswered answered;
  if (!parse_whole(bytes, message)) return malformed();
  auto& answer = answered.answer;
  switch (message.kind()) {
    case wire::AggregateAnswered::KIND_REPLIED:
      answer.kind = AnswerKind::replied;
      break;
    case wire::AggregateAnswered::KIND_REJECTED:
      answer.kind = AnswerKind::rejected;
      break;
    case wire::AggregateAnswered::KIND_FAILED:
      answer.kind = AnswerKind::failed;
      if (!message.has_error() || !messages::get(*message.mutable_error(), answer.error)) return malformed();
      break;
    default:
      return malformed();
  }
  answer.reply = std::move(*message.mutable_reply());
  answer.rejection = std::move(*message.mutable_rejection());
  answer.duplicate = message.duplicate();
  answer.version = SeqNr{message.version()};
  answer.position = GlobalPosition{message.position()};
  answered.format = static_cast<PayloadFormat>(message.format());
  return answered;
}

}  // namespace evershard::cluster
