// What every part of an append over several shards says of the whole.

#pragma once

#include "evershard/sharding/reports.hpp"
#include "evershard/storage/journal/encoded_append.hpp"

namespace evershard::actors {

/// Its runs of shards in its order, and a name that is the same at every attempt of the request and another request's
/// never, whatever ids that one was given: two requests under one name would be taken for contradicting parts of one.
sharding::PartOf part_of(const storage::EncodedAppend& append);

}  // namespace evershard::actors
