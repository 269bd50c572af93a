#include "evershard/cluster/node/awaited.hpp"

#include <string>

namespace evershard::cluster {

Error no_answer(std::uint32_t node, ShardId shard, const Error& why) {
  ErrorDetails details;
  details.shard = shard;
  return {ErrorCode::unavailable,
          "node " + std::to_string(node) + ", which has shard " + std::to_string(shard.value) +
              ", gives no answer: " + why.what,
          std::move(details)};
}

Error of_shard(std::uint32_t node, ShardId shard, Error why) {
  const bool not_there =
      why.code == ErrorCode::unavailable || why.code == ErrorCode::timeout || why.code == ErrorCode::cancelled;
  return not_there && !(why.details && why.details->shard) ? no_answer(node, shard, why) : why;
}

}  // namespace evershard::cluster
