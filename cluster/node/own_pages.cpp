#include "evershard/cluster/node/own_pages.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "evershard/cluster/node/awaited.hpp"
#include "evershard/storage/index/at_hand.hpp"

namespace evershard::cluster {

OwnPages::OwnPages(NodeReader& reader, const GatherOptions& options, Query query, const ReadOptions& asked)
    : reader_(reader),
      node_(options.shards_of.begin()->first),
      watermark_(options.watermark),
      page_events_max_(options.page_events_max),
      left_(NodePageAsked::of(options.shards_of.begin()->second, std::move(query), asked, watermark_)),
      limit_(asked.limit.value_or(std::numeric_limits<std::uint64_t>::max())) {
  if (left_.is_nothing()) limit_ = 0;
}

Result<VisitedPage> OwnPages::visit(const RecordedVisitor& visitor, PageBudget budget) {
  if (cancelled_) return refuse(ErrorCode::cancelled, "the read was cancelled");
  if (limit_ == 0) return VisitedPage{0, watermark_, true};
  std::optional<storage::AtHand> at_hand;
  if (budget.at_hand()) at_hand.emplace();
  left_.events_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(budget.events_max(page_events_max_), limit_));
  const auto visited = reader_.visit(left_, visitor);
  if (!visited) return refuse(of_shard(node_, left_.shards.front(), visited.error()));
  left_.go_on_behind(visited->complete_to);
  limit_ -= visited->events;
  return VisitedPage{visited->events, watermark_, visited->end || limit_ == 0};
}

}  // namespace evershard::cluster
