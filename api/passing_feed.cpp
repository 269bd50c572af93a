#include "evershard/api/passing_feed.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

namespace evershard::cluster {
namespace {

using TellPassedOver = std::function<void(GlobalPosition position, const Error& why)>;

class PassingFeed final : public FeedSource {
 public:
  PassingFeed(EventStore& events, Query query, FollowOptions options, TellPassedOver passed_over)
      : events_(events),
        query_(std::move(query)),
        options_(options),
        passed_over_(std::move(passed_over)),
        feed_(events_.follow(query_, options_)) {}

  Result<FeedItem> next(std::chrono::milliseconds timeout) override {
    auto item = feed_.next(timeout);
    if (item) {
      options_.after = std::max(options_.after, item->watermark);
      return item;
    }
    const auto damaged = place_of_damage(item.error());
    if (!damaged) return item;
    return past(*damaged, item.error());
  }

  void cancel() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    feed_.cancel();
  }

 private:
  [[nodiscard]] std::optional<GlobalPosition> place_of_damage(const Error& error) const {
    if (error.code != ErrorCode::corruption || !error.details || !error.details->position) return std::nullopt;
    if (*error.details->position <= options_.after) return std::nullopt;
    return error.details->position;
  }

  /// What stands in front of it, of any shard, is given first: it may have been met before that was read.
  Result<FeedItem> past(GlobalPosition damaged, Error why) {
    FeedItem item{FeedItem::Kind::events, {}, {}};
    for (bool whole = false; !whole;) {
      auto before =
          events_.read(query_, ReadOptions{.after = options_.after, .up_to = GlobalPosition{damaged.value - 1}});
      item.events.clear();
      for (whole = true;;) {
        auto page = before.next_page();
        if (!page) {
          const auto nearer = place_of_damage(page.error());
          if (!nearer || *nearer >= damaged) return refuse(std::move(page).error());
          damaged = *nearer;
          why = std::move(page).error();
          whole = false;
          break;
        }
        std::move(page->events.begin(), page->events.end(), std::back_inserter(item.events));
        if (page->complete) break;
      }
    }
    item.watermark = options_.after = damaged;
    {
      const std::lock_guard lock(mutex_);
      if (cancelled_) return refuse(ErrorCode::cancelled, "the feed was cancelled");
      feed_ = events_.follow(query_, options_);
    }
    if (passed_over_) passed_over_(damaged, why);  // not of what nobody is given
    return item;
  }

  EventStore& events_;
  const Query query_;
  FollowOptions options_;  ///< `after`: everything up to there was given
  const TellPassedOver passed_over_;
  std::mutex mutex_;  ///< of the feed, where it is exchanged
  bool cancelled_ = false;
  EventFeed feed_;
};

}  // namespace

EventFeed follow_past_damage(EventStore& events, Query query, FollowOptions options, TellPassedOver passed_over) {
  return EventFeed(std::make_unique<PassingFeed>(events, std::move(query), options, std::move(passed_over)));
}

void PassedOver::add(GlobalPosition position, const Error& why) {
  if (!known_.insert(position).second) return;
  if (known_.size() > 1'000) known_.erase(known_.begin());
  ++count_;
  last_ = position;
  why_ = why.what;
}

std::string PassedOver::text() const {
  if (count_ == 0) return {};
  return (count_ == 1
              ? std::string("1 event that cannot be read was passed over, at position ")
              : std::to_string(count_) + " events that cannot be read were passed over, the last at position ") +
         std::to_string(last_.value) + ": " + why_;
}

}  // namespace evershard::cluster
