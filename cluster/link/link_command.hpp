// LinkCommand: what other threads ask of the link's own.

#pragma once

#include <functional>
#include <string>
#include <variant>

#include "evershard/cluster/link/greeted.hpp"
#include "evershard/cluster/link/links.hpp"
#include "evershard/cluster/link/session/inbox.hpp"

namespace evershard::cluster {

struct AskCommand {
  NodeNumber to{};
  MessageKind kind{};
  LinkTime deadline{};
  std::string bytes;
  Links::Done done;
};
struct TellCommand {
  NodeNumber to{};
  MessageKind kind{};
  std::string bytes;
};
struct AnswerCommand {
  NodeNumber to{};
  SessionNumber session{};
  CallNumber number{};
  Result<std::string> outcome;
};
struct ReleaseCommand {
  NodeNumber to{};
  SessionNumber session{};
  std::uint64_t cost = 0;
};
/// A peer could not be reached.
struct MissedCommand {
  NodeNumber node{};
  std::string why;
};
struct ForgetCommand {
  NodeNumber node{};
};

using LinkCommand =
    std::variant<AskCommand, TellCommand, AnswerCommand, ReleaseCommand, Greeted, MissedCommand, ForgetCommand>;
using LinkInbox = Inbox<LinkCommand>;

}  // namespace evershard::cluster
