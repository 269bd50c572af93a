#include "evershard/storage/repair/stopped_parts.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/repair/store_copy.hpp"
#include "evershard/storage/repair/truth_source.hpp"

namespace evershard::storage {
namespace {

struct StoppedNode {
  std::shared_ptr<const TruthSource> source;
  std::map<ShardId, Covered> covered;
  std::vector<ShardId> gives{};
};

Refused of_folder(const std::filesystem::path& folder, const Error& error) {
  const bool named = error.what.find(folder.string()) != std::string::npos;
  return refuse(error.code, named ? error.what : folder.string() + ": " + error.what);
}

Result<StoppedNode> open_stopped(const std::filesystem::path& folder) {
  auto opened = TruthSource::of_closed(folder);
  if (!opened) return of_folder(folder, opened.error());
  StoppedNode node{std::make_shared<const TruthSource>(std::move(*opened)), {}};
  if (node.source->identity().node == 0)
    return refuse(ErrorCode::invalid_argument, folder.string() + " is one process's store, not a node's part");
  auto covered = covered_rows(node.source->rows(), node.source->identity().shards);
  if (!covered) return of_folder(folder, covered.error());
  node.covered = *std::move(covered);
  return node;
}

/// Nothing: it is damaged there.
std::optional<ShardOffset> covered_end(const StoppedNode& node, ShardId shard) {
  const auto at = node.covered.find(shard);
  if (at == node.covered.end()) return ShardOffset{1};
  return at->second.damaged ? std::nullopt : std::optional(at->second.end);
}

Result<void> check_same_cluster(const std::vector<StoppedNode>& nodes) {
  std::map<std::uint32_t, std::filesystem::path> numbers;
  const auto& first = nodes.front().source->identity();
  for (const auto& node : nodes) {
    const auto& is = node.source->identity();
    if (is.store != first.store || is.fork != first.fork)
      return refuse(ErrorCode::invalid_argument, node.source->folder().string() + " is of cluster " + is.store.text() +
                                                     ", " + nodes.front().source->folder().string() + " of " +
                                                     first.store.text());
    const auto [other, is_new] = numbers.emplace(is.node, node.source->folder());
    if (!is_new)
      return refuse(ErrorCode::invalid_argument, other->second.string() + " and " + node.source->folder().string() +
                                                     " are both node " + std::to_string(is.node) + "'s");
  }
  return {};
}

}  // namespace

Result<StoppedParts> open_stopped_parts(const std::vector<std::filesystem::path>& folders) {
  if (folders.empty()) return refuse(ErrorCode::invalid_argument, "no node's directory is named");
  std::vector<StoppedNode> nodes;
  std::set<std::filesystem::path> named;
  for (const auto& folder : folders) {
    std::error_code error;
    if (!named.insert(std::filesystem::weakly_canonical(folder, error)).second)
      return refuse(ErrorCode::invalid_argument, folder.string() + " is named twice");
    auto node = open_stopped(folder);
    if (!node) return refuse(std::move(node).error());
    nodes.push_back(*std::move(node));
  }
  EVERSHARD_TRY(check_same_cluster(nodes));
  std::ranges::sort(nodes, {}, [](const StoppedNode& node) { return node.source->identity().node; });

  StoppedParts made;
  for (const auto& node : nodes) made.known = std::max(made.known, node.source->acknowledged());
  made.end = made.known;
  for (std::uint32_t s = 0; s != nodes.front().source->identity().shards; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    StoppedNode* best = nullptr;
    for (auto& node : nodes) {
      const auto end = covered_end(node, shard);
      if (!end) continue;
      if (best == nullptr ||
          std::tuple(*end, node.source->end()) > std::tuple(*covered_end(*best, shard), best->source->end()))
        best = &node;
    }
    if (best == nullptr)
      return refuse(ErrorCode::corruption,
                    "shard " + std::to_string(s) + " is damaged in each directory: name those of other nodes too");
    best->gives.push_back(shard);
    made.end = std::min(made.end, best->source->end());
  }
  for (const auto& node : nodes) {
    if (made.types.empty()) {
      auto types = types_beside(node.source->folder());
      if (!types) return refuse(std::move(types).error());
      made.types = *std::move(types);
    }
    if (node.gives.empty()) continue;
    // The rows are the source's, and live as long as they are used.
    made.parts.push_back(
        {std::shared_ptr<const Rows>(node.source, &node.source->rows()), node.source->identity(), node.gives});
  }
  return made;
}

}  // namespace evershard::storage
