// What a node of a cluster gives of its store, so that a whole one can be made of several nodes' parts.

#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

struct PartHead {
  Identity identity;
  GlobalPosition watermark;     ///< where the part ends: its cuts up to there are applied
  std::vector<ShardId> shards;  ///< the shards that are whole in it up to there; ascending
};

/// Of those that are asked for, none asked for: of all, the ones that are not damaged here. One of which nothing is
/// here is taken for one without events: who asks knows which shards the node keeps.
///
/// Errors: invalid_argument (no node's store; no such shard), corruption, io
[[nodiscard]] Result<PartHead> head_of_part(const Rows& rows, const Identity& identity,
                                            const std::vector<ShardId>& shards);

/// With which shard's events a state row goes along. What belongs to the node, or to its cluster, goes along with none.
struct StateOfPart {
  std::optional<ShardId> shard{};
};
/// Errors: corruption
[[nodiscard]] Result<StateOfPart> state_of_part(std::string_view key, std::uint32_t shards);

/// A row at a time. Whatever it refuses ends the giving.
using PartSink = std::function<Result<void>(Family family, std::string_view key, std::string_view value)>;

/// All cuts, in which other shards are elsewhere; the journals' records, up to where cuts cover them; and what goes
/// along of the state.
///
/// Shape:  `rows` do not change meanwhile; `head` is of them.
/// Units:  progress in events of the journals.
/// Errors: cancelled, corruption, io, those of the sink
[[nodiscard]] Result<void> give_part(const Rows& rows, const PartHead& head, const PartSink& sink,
                                     const Progress& progress);

}  // namespace evershard::storage
