#include "evershard/doors/serving/hosted_commands.hpp"

#include <algorithm>
#include <utility>

#include "evershard/actors/model/protobuf.hpp"
#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/json_text.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/api/json/message_json.hpp"
#include "evershard/api/json/registered_types.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/nearest.hpp"

namespace evershard::serving {
namespace {

constexpr std::size_t names_shown = 20;

/// Those of them that were probably meant, first.
std::string shown_names(std::string_view word, const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : nearest_first(word, names, names_shown)) text += (text.empty() ? "" : ", ") + in_quotes(name);
  if (names.size() > names_shown) text += " and " + std::to_string(names.size() - names_shown) + " more";
  return text;
}

HostedType described(const WrittenType& type, RegisteredTypes& files) {
  HostedType told{type.format};
  if (type.message != nullptr && add_compiled(*type.message, files)) told.message = protobuf_name(*type.message);
  return told;
}

HostedKind described(const AggregateKind& kind, RegisteredTypes& files) {
  HostedKind told{std::string(kind.type())};
  const auto& types = kind.types();
  told.state = described(types.state, files);
  for (const auto& command : types.commands)
    told.commands.push_back({command.name, described(command.type, files), described(command.reply, files),
                             command.replies, command.query});
  for (const auto& event : types.events) told.events.push_back({event.name, described(event.type, files), event.old});
  return told;
}

/// A message, or what a codec of the application's own writes as JSON: that goes through as it is.
Result<std::string> bytes_of(const std::string& command, const WrittenType& type, std::string json) {
  if (type.message != nullptr && describes_itself(*type.message)) return bytes_of_json(*type.message, json);
  if (type.format != PayloadFormat::json)
    return refuse(ErrorCode::invalid_argument, "command " + in_quotes(command) +
                                                   " has a codec of the application's own: it is asked with bytes, "
                                                   "not with JSON");
  if (auto parsed = JsonValue::parse(json); !parsed) return refuse(std::move(parsed).error());
  return json;
}

}  // namespace

std::optional<std::string> ReplyWritten::json_of(std::string_view reply) const {
  const auto& type = command_->reply;
  if (!command_->replies) return std::nullopt;
  if (type.message != nullptr && describes_itself(*type.message)) {
    auto json = json_of_bytes(*type.message, reply);
    return json ? std::optional(*std::move(json)) : std::nullopt;
  }
  if (type.format == PayloadFormat::json && is_json(reply)) return json_on_one_line(reply);
  return std::nullopt;
}

HostedCommands::HostedCommands(AggregateDoor& door, const std::vector<std::shared_ptr<const AggregateKind>>& kinds)
    : door_(door) {
  for (const auto& kind : kinds) kinds_.emplace(std::string(kind->type()), kind);
  RegisteredTypes files;
  for (const auto& [type, kind] : kinds_) described_.kinds.push_back(described(*kind, files));
  described_.descriptors = descriptor_set_of(files);
}

Result<const KindTypes::Command*> HostedCommands::command_of(const AggregateId& aggregate,
                                                             std::string_view command) const {
  std::vector<std::string> names;
  const auto kind = kinds_.find(aggregate.type);
  if (kind == kinds_.end()) {
    for (const auto& [type, hosted] : kinds_) names.push_back(type);
    return refuse(ErrorCode::invalid_argument, "nobody hosts aggregates of type " + in_quotes(aggregate.type) +
                                                   " here; there are " + shown_names(aggregate.type, names));
  }
  const auto& commands = kind->second->types().commands;
  const auto at = std::ranges::find(commands, command, &KindTypes::Command::name);
  if (at != commands.end()) return &*at;
  for (const auto& one : commands) names.push_back(one.name);
  return refuse(ErrorCode::invalid_argument, "aggregates of type " + in_quotes(aggregate.type) + " know no command " +
                                                 in_quotes(command) + "; there are " + shown_names(command, names));
}

Result<ReadyCommand> HostedCommands::ready(CommandAsked asked) const {
  EVERSHARD_TRY(AggregateId::check(asked.aggregate));
  const auto type = command_of(asked.aggregate, asked.command);
  if (!type) return refuse(type.error());
  if (asked.json) {
    auto bytes = bytes_of(asked.command, (*type)->type, std::move(asked.payload));
    if (!bytes) return refuse(std::move(bytes).error());
    asked.payload = *std::move(bytes);
  }
  return ReadyCommand{std::move(asked.aggregate), std::move(asked.command), std::move(asked.payload),
                      ReplyWritten(**type)};
}

Asking HostedCommands::ask(ReadyCommand command, AskOptions options, AnswerDone done) const {
  return door_.ask_bytes(command.aggregate, std::move(command.command), std::move(command.bytes), std::move(options),
                         std::move(done));
}

Error nothing_hosted() {
  return {ErrorCode::invalid_argument,
          "this server hosts no aggregates: an application does, with its own command line's `serve`"};
}

}  // namespace evershard::serving
