// LocalFeed: following the store in this process: the same read, repeated whenever the watermark moves.

#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "evershard/cluster/store/event_feed.hpp"
#include "evershard/cluster/local/local_pages.hpp"

namespace evershard::cluster {

/// Shape: the query was checked, options.page_events_max is not 0.
class LocalFeed final : public FeedSource {
 public:
  LocalFeed(std::shared_ptr<Node> node, Query query, FollowOptions options);

  Result<FeedItem> next(std::chrono::milliseconds timeout) override;
  void cancel() override;

 private:
  Result<FeedItem> read_page();
  [[nodiscard]] bool near_the_head() const;

  const std::shared_ptr<Node> node_;
  const Query query_;
  const std::size_t page_events_max_;
  GlobalPosition at_;                 ///< everything up to here was looked at
  std::unique_ptr<QueryPages> pass_;  ///< a read from at_ up to a watermark, under way
  bool passed_ = false;               ///< one was read to its end since the feed began, or fell behind
  bool caught_up_ = false;            ///< and it was told so
  std::optional<FeedItem> withheld_;  ///< read already, but `fell_behind` is told first
  std::atomic<bool> cancelled_{false};
};

}  // namespace evershard::cluster
