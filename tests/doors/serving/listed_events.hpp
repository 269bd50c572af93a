// ListedEvents: a store that is a list of events: nothing but head, wait_for and read, and it counts what it was asked.

#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/api/page_forms.hpp"

namespace evershard {

class ListedEvents final : public EventStore {
 public:
  void add(RecordedEvent event) {
    const std::lock_guard lock(mutex_);
    event.position = GlobalPosition(events_.size() + 1);
    events_.push_back(std::move(event));
    moved_.notify_all();
  }
  void add(std::string type, std::size_t times = 1) {
    for (; times > 0; --times) {
      RecordedEvent event;
      event.type = type;
      add(std::move(event));
    }
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    moved_.notify_all();
  }

  Result<GlobalPosition> head() override {
    const std::lock_guard lock(mutex_);
    if (closed_) return refuse(ErrorCode::unavailable, "the store was closed");
    return GlobalPosition(events_.size());
  }
  Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override {
    ++waits;
    std::unique_lock lock(mutex_);
    moved_.wait_until(lock, std::chrono::system_clock::now() + timeout,
                      [&] { return closed_ || events_.size() >= position.value; });
    if (closed_) return refuse(ErrorCode::unavailable, "the store was closed");
    if (events_.size() < position.value) return refuse(ErrorCode::timeout, "not yet");
    return GlobalPosition(events_.size());
  }
  EventStream read(Query query, ReadOptions options) override {
    ++reads;
    if (reading) reading();
    const std::lock_guard lock(mutex_);
    if (fails) return EventStream(Error(ErrorCode::io, "the disk is gone"));
    Page page{{}, GlobalPosition(events_.size()), true};
    for (const auto& event : events_) {
      if (event.position > options.after && event.position <= options.up_to.value_or(event.position) &&
          query.matches(event))
        page.events.push_back(event);
    }
    return EventStream(std::make_unique<OnePage>(std::move(page)));
  }

  Result<Appended> append(Append) override { return refuse(none()); }
  void append_async(Append, AppendCompletion done) override { done(refuse(none())); }
  EventStream read(AggregateId, StreamOptions) override { return EventStream(none()); }
  EventFeed follow(Query, FollowOptions) override { return EventFeed(none()); }
  Result<AggregateInfo> aggregate(const AggregateId&, std::optional<GlobalPosition>) override { return refuse(none()); }
  Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string>, std::optional<AggregateId>,
                                                std::size_t) override {
    return refuse(none());
  }
  Result<RecordedEvent> event_at(GlobalPosition) override { return refuse(none()); }
  Result<void> put_snapshot(Snapshot) override { return refuse(none()); }
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId&, std::optional<SeqNr>) override {
    return refuse(none());
  }
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId&, GlobalPosition) override {
    return refuse(none());
  }
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId&) override { return refuse(none()); }

  std::atomic<int> waits{0};
  std::atomic<int> reads{0};
  std::atomic<bool> fails{false};
  std::function<void()> reading;  ///< called when a read begins; set before anybody reads

 private:
  struct OnePage final : PagesOfValues {
    explicit OnePage(Page p) : page(std::move(p)) {}
    Result<Page> next_page() override { return page; }
    void cancel() override {}
    Page page;
  };
  static Error none() { return {ErrorCode::invalid_argument, "a list has no such thing"}; }

  std::mutex mutex_;
  std::condition_variable moved_;
  std::vector<RecordedEvent> events_;
  bool closed_ = false;
};

}  // namespace evershard
