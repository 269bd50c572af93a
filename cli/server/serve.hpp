// serve: a server from its settings to its end, over whatever doors.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "evershard/cli/command.hpp"
#include "evershard/doors/server/running_door.hpp"
#include "evershard/doors/server/store_in_service.hpp"
#include "evershard/doors/settings/settings.hpp"

namespace evershard::cli {

/// The kind of store that a command serves, and the settings that the command takes.
struct Serving {
  const settings::Table& table;
  std::string (*sample)();
  /// How its store is opened. Checks what these settings say beside ServerOptions, in files too.
  std::function<Result<server::OpenStore>(const settings::Settings&)> opening;
};

/// A store of its own: `evershard serve`.
[[nodiscard]] Serving whole_store();

/// Until SIGTERM or SIGINT; then it drains, closes the store and is done. Always ends: what does not let go in time is
/// left behind.
Outcome serve(const Invocation& invocation, const std::vector<server::StartDoor>& doors, const Serving& what);

}  // namespace evershard::cli
