#include "evershard/api/event_feed.hpp"

namespace evershard {

Result<FeedItem> EventFeed::next(std::chrono::milliseconds timeout) {
  if (!error_ && !source_) error_ = Error(ErrorCode::invalid_argument, "the feed was moved from");
  if (error_) return refuse(*error_);
  auto item = source_->next(timeout);
  if (!item) error_ = item.error();
  return item;
}

void EventFeed::cancel() {
  if (source_) source_->cancel();
}

}  // namespace evershard
