// OwnPages: a read over shards that are all this node's own: its events are shown where they lie.

#pragma once

#include <atomic>
#include <cstdint>

#include "evershard/api/page_source.hpp"
#include "evershard/cluster/node/gather.hpp"
#include "evershard/cluster/node/node_reader.hpp"

namespace evershard::cluster {

/// What Gather gives of one node, without a page of values in between. Owner: the reader outlives it.
class OwnPages final : public PageSource {
 public:
  /// Shape: the query was checked; `options.shards_of` names one node, the reader's.
  OwnPages(NodeReader& reader, const GatherOptions& options, Query query, const ReadOptions& asked);

  /// Errors: as Gather's
  [[nodiscard]] Result<VisitedPage> visit(const RecordedVisitor& visitor, PageBudget budget) override;
  void cancel() override { cancelled_ = true; }

 private:
  NodeReader& reader_;
  const std::uint32_t node_;
  const GlobalPosition watermark_;
  const std::size_t page_events_max_;
  NodePageAsked left_;  ///< what is still to be read
  std::uint64_t limit_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace evershard::cluster
