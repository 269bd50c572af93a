#include "evershard/services/erasure/sealed_events.hpp"

#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/protocol/shown_event.hpp"
#include "evershard/services/erasure/opened_snapshot.hpp"

namespace evershard::cluster {
namespace {

/// What is not sealed is handed on as it lies there, and so is what a key at hand opens. From the first event of a page
/// on whose key must be asked for, the page's events are kept as values until the keys are there. For those who do not
/// wait nothing is at hand: what is kept for a call that waits would lie in memory uncounted.
class OpenedPages final : public PageSource {
 public:
  OpenedPages(EventStream stream, std::shared_ptr<const Sealing> sealing)
      : stream_(std::move(stream)), sealing_(std::move(sealing)) {}

  Result<VisitedPage> visit(const RecordedVisitor& visitor, PageBudget budget) override {
    if (failed_) return refuse(*failed_);
    if (budget.at_hand()) return VisitedPage{};
    std::size_t shown = 0;
    std::vector<RecordedEvent> kept;
    const auto page = stream_.visit([&](const RecordedView& event) {
      if (kept.empty() && hand_on(event, visitor))
        ++shown;
      else
        kept.push_back(event.take());
    });
    if (!page) return refuse(page.error());
    sealing_->fetch_keys(kept);
    for (auto& event : kept) {
      if (auto opened = sealing_->open(event); !opened) {
        failed_ = std::move(opened).error();
        break;
      }
      show_to_take(event, view_);
      visitor(view_);
      ++shown;
    }
    if (failed_ && shown == 0) return refuse(*failed_);
    return VisitedPage{shown, page->watermark, page->complete && !failed_};
  }
  void cancel() override { stream_.cancel(); }

 private:
  /// False: nobody saw it, it is to be kept.
  bool hand_on(const RecordedView& event, const RecordedVisitor& visitor) {
    if (!Sealing::is_sealed(event)) {
      visitor(event);
      return true;
    }
    if (!sealing_->open_at_hand(event, view_, plain_)) return false;
    visitor(view_);
    return true;
  }

  EventStream stream_;
  const std::shared_ptr<const Sealing> sealing_;
  std::optional<Error> failed_;  ///< behind what was shown: the next visit tells it
  RecordedView view_;
  PlainPayload plain_;
};

class OpenedFeed final : public FeedSource {
 public:
  OpenedFeed(EventFeed feed, std::shared_ptr<const Sealing> sealing)
      : feed_(std::move(feed)), sealing_(std::move(sealing)) {}
  Result<FeedItem> next(std::chrono::milliseconds timeout) override {
    auto item = feed_.next(timeout);
    if (item) EVERSHARD_TRY(sealing_->open(item->events));
    return item;
  }
  void cancel() override { feed_.cancel(); }

 private:
  EventFeed feed_;
  const std::shared_ptr<const Sealing> sealing_;
};

}  // namespace

Result<Appended> SealedEvents::append(Append append) {
  if (queue_ != nullptr && queue_->has_mine()) {  // what its caller sent before comes before
    std::promise<Result<Appended>> answered;
    append_async(std::move(append), [&](Result<Appended> done) { answered.set_value(std::move(done)); });
    return answered.get_future().get();
  }
  EVERSHARD_TRY(sealing_->seal(append));
  return store_.append(std::move(append));
}

void SealedEvents::append_async(Append append, AppendCompletion done) {
  auto seal = [this](Append& what, AppendCompletion& then) {
    if (auto sealed = sealing_->seal(what); !sealed) return then(refuse(std::move(sealed).error()));
    store_.append_async(std::move(what), std::move(then));
  };
  if (queue_ == nullptr) return seal(append, done);
  if (!queue_->busy()) {
    auto sealed = sealing_->seal_at_once(append);
    if (!sealed) return done(refuse(std::move(sealed).error()));
    if (*sealed) return store_.append_async(std::move(append), std::move(done));
  }
  auto held = std::make_shared<std::pair<Append, AppendCompletion>>(std::move(append), std::move(done));
  auto queued = queue_->run(held->first, [seal, held] { seal(held->first, held->second); });
  if (!queued) held->second(refuse(std::move(queued).error()));
}

EventStream SealedEvents::read(Query query, ReadOptions options) {
  return EventStream(std::make_unique<OpenedPages>(store_.read(std::move(query), options), sealing_));
}

EventStream SealedEvents::read(AggregateId aggregate, StreamOptions options) {
  return EventStream(std::make_unique<OpenedPages>(store_.read(std::move(aggregate), options), sealing_));
}

EventFeed SealedEvents::follow(Query query, FollowOptions options) {
  return EventFeed(std::make_unique<OpenedFeed>(store_.follow(std::move(query), options), sealing_));
}

Result<RecordedEvent> SealedEvents::event_at(GlobalPosition position) {
  auto event = store_.event_at(position);
  if (event) EVERSHARD_TRY(sealing_->open(*event));
  return event;
}

Result<void> SealedEvents::put_snapshot(Snapshot snapshot) {
  EVERSHARD_TRY(sealing_->seal(snapshot));
  return store_.put_snapshot(std::move(snapshot));
}

Result<std::optional<RecordedSnapshot>> SealedEvents::snapshot(const AggregateId& aggregate,
                                                               std::optional<SeqNr> at_or_before) {
  return opened_snapshot(*sealing_, store_.snapshot(aggregate, at_or_before), [&](const RecordedSnapshot& erased) {
    return store_.snapshot(aggregate, erased.version - 1);
  });
}

Result<std::optional<RecordedSnapshot>> SealedEvents::snapshot_as_of(const AggregateId& aggregate,
                                                                     GlobalPosition up_to) {
  return opened_snapshot(*sealing_, store_.snapshot_as_of(aggregate, up_to), [&](const RecordedSnapshot& erased) {
    return store_.snapshot_as_of(aggregate, erased.position - 1);
  });
}

Result<std::vector<RecordedSnapshot>> SealedEvents::snapshots(const AggregateId& aggregate) {
  auto all = store_.snapshots(aggregate);
  if (!all) return all;
  std::vector<RecordedSnapshot> left;
  for (auto& snapshot : *all) {
    auto there = sealing_->open(snapshot);
    if (!there) return refuse(std::move(there).error());
    if (*there) left.push_back(std::move(snapshot));
  }
  return left;
}

}  // namespace evershard::cluster
