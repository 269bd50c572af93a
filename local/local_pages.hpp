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

  Result<Page> next_page() override;
  Result<EncodedPage> next_encoded_page() override;
  std::optional<EncodedPage> page_at_hand(std::size_t events_max) override;
  Result<VisitedPage> visit_page(const RecordedVisitor& visitor) override;
  std::optional<VisitedPage> visit_at_hand(std::size_t events_max, const RecordedVisitor& visitor) override;
  void cancel() override;

 private:
  struct Read {
    std::size_t events = 0;
    bool complete = false;
  };
  /// The next page's events, one by one, up to so many.
  Result<Read> read(std::size_t events_max, const RecordedVisitor& visitor);
  Result<EncodedPage> encoded(std::size_t events_max);
  Result<VisitedPage> visited(std::size_t events_max, const RecordedVisitor& visitor);
  /// What `made` gives of so many events, if memory has them.
  template <class Made>
  auto at_hand(std::size_t events_max, const Made& made);
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
