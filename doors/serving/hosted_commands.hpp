// HostedCommands: the aggregates that this process hosts, asked by who is not written in its types: by names, with
// bytes or with JSON. The same for every door.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/actors/model/kind.hpp"
#include "evershard/api/hosted_kinds.hpp"

namespace evershard::serving {

struct CommandAsked {
  AggregateId aggregate;
  std::string command;    ///< logical name
  std::string payload{};  ///< bytes, or JSON
  bool json = false;
};

/// How a command's reply is written. Shape: the HostedCommands outlive it.
class ReplyWritten {
 public:
  explicit ReplyWritten(const KindTypes::Command& command) : command_(&command) {}
  /// False: the command says that it is done, and no more.
  [[nodiscard]] bool replies() const { return command_->replies; }
  /// On one line; absent: it has none, or is written by a codec of the application's own.
  [[nodiscard]] std::optional<std::string> json_of(std::string_view reply) const;

 private:
  const KindTypes::Command* command_;
};

/// A command that can be asked.
struct ReadyCommand {
  AggregateId aggregate;
  std::string command;
  std::string bytes;
  ReplyWritten reply;
};

/// Any thread. Owner: `door` outlives it.
class HostedCommands {
 public:
  HostedCommands(AggregateDoor& door, const std::vector<std::shared_ptr<const AggregateKind>>& kinds);

  /// Cost: of JSON as long as it takes to read it.
  /// Errors: invalid_argument: nobody hosts its type, it has no such command: with the names that there are; JSON that
  ///         is none of the command's message: with the path of what does not fit; a malformed id
  [[nodiscard]] Result<ReadyCommand> ready(CommandAsked asked) const;
  /// `done`: as AggregateDoor::ask_bytes calls it.
  Asking ask(ReadyCommand command, AskOptions options, AnswerDone done) const;
  [[nodiscard]] const HostedKinds& kinds() const { return described_; }

 private:
  [[nodiscard]] Result<const KindTypes::Command*> command_of(const AggregateId& aggregate,
                                                             std::string_view command) const;

  AggregateDoor& door_;
  std::map<std::string, std::shared_ptr<const AggregateKind>, std::less<>> kinds_;
  HostedKinds described_;
};

/// Where there are no HostedCommands.
[[nodiscard]] Error nothing_hosted();

}  // namespace evershard::serving
