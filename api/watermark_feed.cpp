#include "evershard/api/watermark_feed.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/page_forms.hpp"

namespace evershard::cluster {

using Kind = FeedItem::Kind;

WatermarkFeed::WatermarkFeed(std::shared_ptr<Followed> store, Query query, FollowOptions options)
    : store_(std::move(store)),
      query_(std::move(query)),
      page_events_max_(options.page_events_max),
      at_(options.after) {}

Result<FeedItem> WatermarkFeed::next(std::chrono::milliseconds timeout) {
  const auto began = std::chrono::steady_clock::now();
  const auto left = [&] {
    const auto spent = std::chrono::steady_clock::now() - began;
    return std::max(timeout - std::chrono::duration_cast<std::chrono::milliseconds>(spent),
                    std::chrono::milliseconds(0));
  };

  while (true) {
    if (cancelled_) return refuse(ErrorCode::cancelled, "the feed was cancelled");
    if (withheld_) return *std::exchange(withheld_, std::nullopt);
    if (!pass_) {
      if (!caught_up_ && passed_ && near_the_head()) {
        caught_up_ = true;
        return FeedItem{Kind::caught_up, {}, at_};
      }
      if (caught_up_) {
        auto moved = store_->wait_for(at_ + 1, left(), &cancelled_);
        if (!moved && moved.error().code == ErrorCode::timeout) return FeedItem{Kind::idle, {}, at_};
        if (!moved) return refuse(std::move(moved).error());
      }
      pass_ = store_->pages(query_, ReadOptions{.after = at_}, page_events_max_);
    }
    const auto before = at_;
    auto item = read_page();
    if (!item) return item;
    if (caught_up_ && pass_) {
      caught_up_ = passed_ = false;
      withheld_ = *std::move(item);
      return FeedItem{Kind::fell_behind, {}, before};
    }
    if (!item->events.empty()) return item;
    // What matches nothing must not keep the caller waiting for as long as others append it.
    if (caught_up_ && left().count() == 0) return FeedItem{Kind::idle, {}, at_};
  }
}

void WatermarkFeed::cancel() {
  cancelled_ = true;
  store_->nudge();
}

Result<FeedItem> WatermarkFeed::read_page() {
  auto page = built_page(*pass_);
  if (!page) return refuse(std::move(page).error());
  if (page->complete) {
    at_ = std::max(at_, page->watermark);
    pass_.reset();
    passed_ = true;
  } else if (!page->events.empty()) {
    at_ = page->events.back().position;
  }
  return FeedItem{Kind::events, std::move(page->events), at_};
}

/// While a long pass was read, others went on appending: what they appended meanwhile is another pass, until it is so
/// little that it comes as live.
bool WatermarkFeed::near_the_head() const {
  const auto watermark = store_->watermark();
  return watermark <= at_ || watermark - at_ <= page_events_max_;
}

}  // namespace evershard::cluster
