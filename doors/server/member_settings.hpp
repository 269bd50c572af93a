// The settings of a node of a cluster: those of a server, and a group for the cluster.

#pragma once

#include "evershard/doors/server/member_store.hpp"
#include "evershard/doors/settings/settings.hpp"

namespace evershard::server {

[[nodiscard]] const settings::Table& member_settings();
/// The group for the cluster alone.
[[nodiscard]] const settings::Table& membership_settings();

/// Of settings of this table; all but the version. Reads the secret's file.
/// Errors: invalid_argument: what is missing, or no single setting shows; those of link_options_of
[[nodiscard]] Result<MemberOptions> member_options_of(const settings::Settings& settings);

[[nodiscard]] std::string member_configuration_sample();

}  // namespace evershard::server
