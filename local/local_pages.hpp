// LocalPages: the pages of one read of the store in this process.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "evershard/api/event_stream.hpp"
#include "evershard/local/held_cursors.hpp"
#include "evershard/local/node.hpp"
#include "evershard/protocol/query.hpp"

namespace evershard::cluster {

/// Bounded by the watermark at its first page, whatever is appended meanwhile.
///
/// Asked, Options: Query and ReadOptions, or AggregateId and StreamOptions; both were checked.
/// A cursor is kept for pages that follow each other quickly, and renewed with a fresh view after `renew_after`, so
/// that a read of hours pins nothing for hours.
template <class Asked, class Options>
class LocalPages final : public PageSource {
 public:
  LocalPages(std::shared_ptr<Node> node, Asked asked, Options options, std::size_t page_events_max);
  ~LocalPages() override;

  Result<VisitedPage> visit(const RecordedVisitor& visitor, PageBudget budget) override;
  void cancel() override;

 private:
  Result<VisitedPage> read(std::size_t events_max, const RecordedVisitor& visitor);
  Result<void> wait_at_least();

  const std::shared_ptr<Node> node_;
  const Asked asked_;
  Options options_;  ///< what is still to be read: moves on behind every page
  const std::size_t page_events_max_;
  std::optional<GlobalPosition> watermark_;  ///< absent: not begun
  HeldCursors::Ticket ticket_ = 0;
  std::chrono::steady_clock::time_point opened_;
  std::atomic<bool> cancelled_{false};
};

using QueryPages = LocalPages<Query, ReadOptions>;
using StreamPages = LocalPages<AggregateId, StreamOptions>;

extern template class LocalPages<Query, ReadOptions>;
extern template class LocalPages<AggregateId, StreamOptions>;

}  // namespace evershard::cluster
