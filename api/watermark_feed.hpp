// WatermarkFeed: following a store whose watermark moves: the same read, repeated.

#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "evershard/api/event_feed.hpp"
#include "evershard/api/event_stream.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/read.hpp"

namespace evershard::cluster {

/// What a feed needs of its store. Any thread.
class Followed {
 public:
  virtual ~Followed() = default;
  [[nodiscard]] virtual GlobalPosition watermark() const = 0;
  /// Errors: timeout; cancelled: `cancelled` is set, looked at after a nudge(); what the store was closed with
  [[nodiscard]] virtual Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout,
                                                        const std::atomic<bool>* cancelled) = 0;
  virtual void nudge() = 0;
  /// Bounded by the watermark at the first page.
  [[nodiscard]] virtual std::unique_ptr<PageSource> pages(const Query& query, const ReadOptions& options,
                                                          std::size_t page_events_max) = 0;
};

/// Shape: the query was checked, options.page_events_max is not 0.
class WatermarkFeed final : public FeedSource {
 public:
  WatermarkFeed(std::shared_ptr<Followed> store, Query query, FollowOptions options);

  Result<FeedItem> next(std::chrono::milliseconds timeout) override;
  void cancel() override;

 private:
  Result<FeedItem> read_page();
  [[nodiscard]] bool near_the_head() const;

  const std::shared_ptr<Followed> store_;
  const Query query_;
  const std::size_t page_events_max_;
  GlobalPosition at_;                 ///< every event up to here was looked at
  std::unique_ptr<PageSource> pass_;  ///< a read from at_ up to a watermark, under way
  bool passed_ = false;               ///< one was read to its end since the feed began, or fell behind
  bool caught_up_ = false;            ///< and the reader was told so
  std::optional<FeedItem> withheld_;  ///< read already, but `fell_behind` is told first
  std::atomic<bool> cancelled_{false};
};

}  // namespace evershard::cluster
