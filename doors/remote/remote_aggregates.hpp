// Commands to the aggregates that a server's application hosts.

#pragma once

#include <string>

#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

/// As Remote::ask.
[[nodiscard]] AnyAnswer ask(Connection& connection, const AggregateId& aggregate, std::string command_type,
                            std::string command, AskOptions options);
/// As Remote::kinds.
[[nodiscard]] Result<HostedKinds> hosted_kinds(Connection& connection);

}  // namespace evershard::remote
