#include "evershard/doors/server/readiness.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

namespace evershard::server {
namespace {

constexpr std::size_t named_max = 8;  ///< shards in one sentence

/// `shard 3`, `shards 3, 5`, `shards 1, 2, ... (120 of them)`
std::string these_shards(const std::vector<ShardId>& shards) {
  std::string text = shards.size() == 1 ? "shard " : "shards ";
  for (std::size_t n = 0; n != std::min(shards.size(), named_max); ++n)
    text += (n == 0 ? "" : ", ") + std::to_string(shards[n].value);
  if (shards.size() > named_max) text += ", ... (" + std::to_string(shards.size()) + " of them)";
  return text;
}

void add_sentence(std::string& to, const std::vector<ShardId>& shards, const std::string& what) {
  if (!shards.empty()) to += (to.empty() ? "" : "; ") + these_shards(shards) + what;
}

}  // namespace

std::optional<Error> waits_for_writers(const ClusterView& view, const std::vector<ShardId>& open_here) {
  if (view.shards.empty()) return Error(ErrorCode::unavailable, "the coordinator has not told yet who writes what");
  std::vector<ShardId> nobody, opening;
  std::vector<std::vector<ShardId>> away(view.nodes.size());
  for (std::size_t s = 0; s != view.shards.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    const auto writer = view.shards[s].node;
    const auto* node = view.find(writer);
    if (writer == 0 || (node == nullptr && writer != view.self))
      nobody.push_back(shard);
    else if (writer == view.self && std::ranges::find(open_here, shard) == open_here.end())
      opening.push_back(shard);
    else if (writer != view.self && !node->up)
      away[static_cast<std::size_t>(node - view.nodes.data())].push_back(shard);
  }
  std::string waits;
  add_sentence(waits, nobody, nobody.size() == 1 ? " has no writer yet" : " have no writer yet");
  add_sentence(waits, opening, " not open on this node yet");
  for (std::size_t n = 0; n != away.size(); ++n)
    add_sentence(waits, away[n], " written by node " + std::to_string(view.nodes[n].node) + ", which is not up");
  if (waits.empty()) return {};
  return Error(ErrorCode::unavailable, std::move(waits));
}

std::optional<Error> NodeReadiness::look() {
  if (was_ready_) return {};
  if (const auto came = node_.committer().caught_up(std::chrono::milliseconds(0)); !came) return came.error();
  auto waits = waits_for_writers(node_.view(), homes_.open_here());
  if (!waits) was_ready_ = true;
  return waits;
}

}  // namespace evershard::server
