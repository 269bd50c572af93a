// Why a node does nothing for whoever asks: of its shards, and of parts of other nodes' appends.

#pragma once

#include "evershard/actors/core/writer_actions.hpp"
#include "evershard/cluster/order/messages.hpp"
#include "evershard/protocol/error.hpp"

namespace evershard::cluster {

[[nodiscard]] Error not_open(ShardId shard);
/// To whoever needs a shard that the coordinator does not open on this disk.
[[nodiscard]] Error refused_shard(const ShardRefused& refused);
/// To whoever waits when the node stops.
[[nodiscard]] Error unanswered(bool written);
/// Who asked finds his append by it.
[[nodiscard]] actors::PartAnswer lost_part(const actors::PartAsked& asked, Error why);

}  // namespace evershard::cluster
