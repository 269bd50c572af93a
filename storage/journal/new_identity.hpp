// A new store's identity: random ids, a random key for its terms.

#pragma once

#include <optional>

#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/options.hpp"

namespace evershard::storage {

/// `shards`: 0 is 16. Of a node: what is the cluster's, and its number.
Identity new_identity(std::uint32_t shards, const std::optional<ClusterMember>& member);

}  // namespace evershard::storage
