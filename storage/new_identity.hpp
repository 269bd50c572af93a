// A new store's identity: random ids, a random key for its terms.

#pragma once

#include "evershard/storage/identity.hpp"

namespace evershard::storage {

/// `shards`: 0 is 16.
Identity new_identity(std::uint32_t shards);

}  // namespace evershard::storage
