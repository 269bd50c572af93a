// Gather: one read over the shards of many nodes: a page of each, merged in the order of positions.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "evershard/api/page_forms.hpp"
#include "evershard/cluster/node/node_network.hpp"
#include "evershard/sharding/merge.hpp"

namespace evershard::cluster {

/// Asks one node: this one or another.
using AskNode = std::function<void(std::uint32_t node, NodePageAsked asked, NodeDone<NodePage> done)>;

struct GatherOptions {
  std::map<std::uint32_t, std::vector<ShardId>> shards_of;  ///< by node, ascending
  GlobalPosition watermark;                                 ///< the read is bounded by it
  std::chrono::milliseconds timeout{};                      ///< of each page
  std::size_t page_events_max = 1'000;
};

/// Pages are asked for when they are needed: of each node at most one is under way, and one is held.
class Gather final : public PagesOfValues {
 public:
  /// Shape: the query was checked.
  Gather(GatherOptions options, const Query& query, const ReadOptions& asked, AskNode ask);
  ~Gather() override;

  /// Errors: unavailable, wrong_shard, timeout, corruption: of the node that said so; nothing was left out before it
  Result<Page> next_page() override;
  void cancel() override;

 private:
  struct Answers;
  using Nodes = std::set<std::uint32_t>;
  [[nodiscard]] Nodes waiting_for() const;
  void ask(std::uint32_t node);
  [[nodiscard]] Result<void> wait_for(const Nodes& nodes);
  [[nodiscard]] Result<void> take(NodePageAsked& source, NodePage page);

  const GatherOptions options_;
  const AskNode ask_;
  std::map<std::uint32_t, NodePageAsked> sources_;  ///< by node: what is still to be asked
  std::map<ShardId, std::uint32_t> node_of_;
  std::optional<sharding::PageMerge> merge_;
  std::uint64_t left_;
  std::shared_ptr<Answers> answers_;
};

}  // namespace evershard::cluster
