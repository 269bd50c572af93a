// HostedKinds: which aggregates an application hosts, by names, for who is not written in its types.

#pragma once

#include <string>
#include <vector>

#include "evershard/protocol/event.hpp"

namespace evershard {

/// How a type is written.
struct HostedType {
  PayloadFormat format = PayloadFormat::unspecified;
  std::string message{};  ///< the full name of its Protobuf message; empty: it has a codec of the application's own

  friend bool operator==(const HostedType&, const HostedType&) = default;
};

struct HostedCommand {
  std::string name{};  ///< logical
  HostedType type{};
  HostedType reply{};
  bool replies = true;  ///< false: the answer only says that the command is done
  bool query = false;   ///< it can only look

  friend bool operator==(const HostedCommand&, const HostedCommand&) = default;
};

struct HostedEvent {
  std::string name{};
  HostedType type{};
  bool old = false;  ///< read, and not written any more

  friend bool operator==(const HostedEvent&, const HostedEvent&) = default;
};

struct HostedKind {
  std::string type{};
  HostedType state{};
  std::vector<HostedCommand> commands{};  ///< in order of name, as the events
  std::vector<HostedEvent> events{};

  friend bool operator==(const HostedKind&, const HostedKind&) = default;
};

struct HostedKinds {
  std::vector<HostedKind> kinds{};  ///< in order of type
  std::string descriptors{};        ///< a FileDescriptorSet: every message that is named, each file behind its imports

  friend bool operator==(const HostedKinds&, const HostedKinds&) = default;
};

}  // namespace evershard
