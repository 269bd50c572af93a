// The server's settings: the one table of them, from which flags, environment, file, --help, docs/configuration.md and
// the page's list come. Defaults are those of the structs.

#pragma once

#include <string>
#include <vector>

#include "evershard/doors/server/server_options.hpp"
#include "evershard/doors/settings/settings.hpp"

namespace evershard::server {

[[nodiscard]] const settings::Table& server_settings();
/// What clients read from the environment: no settings of a server.
[[nodiscard]] const std::vector<std::string>& client_variables();

/// Errors: invalid_argument: what no single setting shows: no data, a certificate without its key
[[nodiscard]] Result<ServerOptions> options_of(const settings::Settings& settings);

/// docs/configuration.md, whole.
[[nodiscard]] std::string configuration_document();
/// What is installed as the configuration to begin with.
[[nodiscard]] std::string configuration_sample();

}  // namespace evershard::server
