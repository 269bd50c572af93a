// An etcd of three members on this machine, for a cluster that is tried out.

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "evershard/cli/server/watched_process.hpp"

namespace evershard::cli {

/// Three members in `folder`, on the ports that its file `ports` names, which is made where it is not there.
/// Errors: not_found: etcd is not installed; io; corruption: the file is not what was written
[[nodiscard]] Result<std::vector<WatchedProcess>> etcd_members_in(const std::filesystem::path& folder);
/// `etcd://...` of those members. Shape: etcd_members_in() has been asked.
[[nodiscard]] Result<std::string> etcd_address_in(const std::filesystem::path& folder);
/// Waits until a majority of them answers. `go_on`: false: it is given up. Errors: unavailable, cancelled
[[nodiscard]] Result<void> wait_for_etcd(const std::string& address, const std::function<bool()>& go_on);

}  // namespace evershard::cli
