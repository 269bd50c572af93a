#include "evershard/cluster/node/node_refusals.hpp"

#include <utility>

namespace evershard::cluster {

Error not_open(ShardId shard) {
  ErrorDetails details;
  details.shard = shard;
  return {ErrorCode::wrong_shard, "shard " + std::to_string(shard.value) + " is not open on this node",
          std::move(details)};
}

Error refused_shard(const ShardRefused& refused) {
  ErrorDetails details;
  details.shard = refused.shard;
  details.lasting = true;
  return {ErrorCode::unavailable, "shard " + std::to_string(refused.shard.value) + " is closed: " + refused.error.what,
          std::move(details)};
}

Error unanswered(bool written) {
  if (written) return {ErrorCode::timeout, "the node is stopping, the append's outcome is unknown"};
  return {ErrorCode::unavailable, "the node is stopping: nothing of the append was written"};
}

actors::PartAnswer lost_part(const actors::PartAsked& asked, Error why) {
  actors::PartAnswer lost;
  lost.attempt = asked.attempt;
  lost.try_number = asked.try_number;
  lost.shard = asked.shard;
  lost.kind = actors::PartAnswer::Kind::lost;
  lost.error = std::move(why);
  return lost;
}

}  // namespace evershard::cluster
