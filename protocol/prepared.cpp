#include "evershard/protocol/prepared.hpp"

#include <xxhash.h>

#include <utility>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/v1/prepared.pb.h"

namespace evershard {

std::string prepare_key(std::string_view fork, const AggregateId& aggregate, std::string_view command_id) {
  if (command_id.empty()) return EventId::random().text();
  std::string text(fork);
  text.push_back('\0');
  text.append(aggregate.text());
  text.push_back('\0');
  text.append(command_id);
  const auto hash = XXH3_128bits(text.data(), text.size());
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  return hex({reinterpret_cast<const char*>(bytes.digest), sizeof bytes.digest});
}

std::string encode(const CommandPrepared& prepared) {
  v1::CommandPrepared message;
  message.set_command(prepared.command);
  message.set_question_type(prepared.question_type);
  message.set_question(prepared.question);
  message.set_answer_type(prepared.answer_type);
  message.set_answer(prepared.answer);
  return message.SerializeAsString();
}

Result<CommandPrepared> decode_command_prepared(std::string_view bytes) {
  v1::CommandPrepared message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return refuse(ErrorCode::corruption, "an event of type " + in_quotes(command_prepared_type) + " cannot be read");
  return CommandPrepared{std::move(*message.mutable_command()), std::move(*message.mutable_question_type()),
                         std::move(*message.mutable_question()), std::move(*message.mutable_answer_type()),
                         std::move(*message.mutable_answer())};
}

}  // namespace evershard
