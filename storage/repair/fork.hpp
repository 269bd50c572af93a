// A fork: what tells a copy of a store, or one that lost events, from the store it was.

#pragma once

#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"

namespace evershard::storage {

/// Durable. Returns: the identity as it is now. Errors: corruption (it has none that can be read), io
Result<Identity> give_new_fork(const RocksFamilies& families);
/// Errors: corruption, io
Result<Identity> stored_identity(const RocksFamilies& families);

}  // namespace evershard::storage
