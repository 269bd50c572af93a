#include "evershard/services/erasure/sealed_events.hpp"

#include <future>
#include <utility>

#include "evershard/services/erasure/opened_snapshot.hpp"

namespace evershard::cluster {
namespace {

class OpenedPages final : public PageSource {
 public:
  OpenedPages(EventStream stream, std::shared_ptr<const Sealing> sealing)
      : stream_(std::move(stream)), sealing_(std::move(sealing)) {}
  Result<Page> next_page() override {
    auto page = stream_.next_page();
    if (page) EVERSHARD_TRY(sealing_->open(page->events));
    return page;
  }
  void cancel() override { stream_.cancel(); }

 private:
  EventStream stream_;
  const std::shared_ptr<const Sealing> sealing_;
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
