#include "evershard/cluster/node/node_network.hpp"

#include <algorithm>

namespace evershard::cluster {

NodePageAsked NodePageAsked::of(std::vector<ShardId> shards, Query query, const ReadOptions& options,
                                GlobalPosition watermark) {
  NodePageAsked asked;
  asked.shards = std::move(shards);
  asked.query = std::move(query);
  asked.after = options.after;
  asked.up_to = std::min(watermark, options.up_to.value_or(watermark));
  if (options.before)
    asked.up_to = std::min(asked.up_to, options.before->value == 0 ? GlobalPosition{0} : *options.before - 1);
  asked.direction = options.direction;
  return asked;
}

void NodePageAsked::go_on_behind(GlobalPosition complete_to) {
  if (direction == Direction::forwards)
    after = complete_to;
  else
    up_to = GlobalPosition{complete_to.value - 1};
}

}  // namespace evershard::cluster
