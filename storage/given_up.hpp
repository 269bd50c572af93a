// What was given up as lost and is on a node's disk all the same: taken off it, before anybody reads.

#pragma once

#include <functional>
#include <map>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"

namespace evershard::storage {

/// An old copy of a disk, or one that was left behind when its shard was given to another node, has places that readers
/// were told hold nothing any more. Covered::gone_from says so from the cut that gave them up on.
///
/// From which offset on, of which shards. Errors: corruption, io
Result<std::map<ShardId, ShardOffset>> given_up(const Rows& rows, std::uint32_t shards);

/// Their snapshots go, or an older copy becomes the latest; their positions are elsewhere, as other nodes' are; their
/// records go. Indexes that have them are made anew by who opens the store: their mark is 0 behind it.
///
/// Durable: on return. After a crash at any step, the whole is to be done again.
/// Errors:  corruption: also where indexes are to be made anew and a record that stays is damaged: then nothing was
/// changed; io
/// Cost:    all cuts and all snapshots of the node are read once; where indexes are made anew, all records.
/// `step`:  called behind each part, see steps::open_given_up.
Result<void> take_off_given_up(RocksFamilies& families, const RocksOptions& options, const Rows& rows,
                               const Identity& identity, const std::function<void()>& step);

}  // namespace evershard::storage
