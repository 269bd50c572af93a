#include "evershard/cli/server/part_plan.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace evershard::cli {
namespace {

std::vector<ShardId> in_both(const std::vector<ShardId>& a, const std::vector<ShardId>& b) {
  std::vector<ShardId> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

}  // namespace

std::vector<ShardId> kept_by(const ClusterStatus& status, std::uint32_t node) {
  std::vector<ShardId> kept;
  for (std::size_t s = 0; s != status.shards.size(); ++s) {
    const auto& shard = status.shards[s];
    const bool keeps =
        shard.replicas.empty() ? shard.node == node : std::ranges::find(shard.replicas, node) != shard.replicas.end();
    if (keeps) kept.push_back(ShardId{static_cast<std::uint16_t>(s)});
  }
  return kept;
}

std::vector<PlannedPart> plan_parts(std::vector<PartOffer> offers, std::vector<ShardId> wanted) {
  std::ranges::sort(wanted);
  for (auto& offer : offers) std::ranges::sort(offer.shards);
  std::vector<PlannedPart> plan;
  while (!wanted.empty()) {
    const auto worth = [&](const PartOffer& offer) {
      return std::tuple(-static_cast<std::int64_t>(offer.failures), in_both(offer.shards, wanted).size(),
                        offer.watermark);
    };
    std::erase_if(offers, [&](const PartOffer& offer) { return in_both(offer.shards, wanted).empty(); });
    const auto best = std::ranges::max_element(offers, {}, worth);
    if (best == offers.end()) break;
    auto taken = in_both(best->shards, wanted);
    std::erase_if(wanted, [&](ShardId shard) { return std::ranges::binary_search(taken, shard); });
    plan.push_back({best->node, std::move(taken)});
  }
  return plan;
}

}  // namespace evershard::cli
