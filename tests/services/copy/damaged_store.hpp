// DamagedStore: a store in which events at some positions cannot be read, as where their records are damaged.

#pragma once

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "evershard/api/page_forms.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard::testing {

class DamagedStore final : public ForwardingStore {
 public:
  DamagedStore(EventStore& to, std::set<std::uint64_t> damaged) : ForwardingStore(to), damaged_(std::move(damaged)) {}

  using EventStore::read;
  EventStream read(Query query, ReadOptions options = {}) override {
    return EventStream(std::make_unique<Pages>(to_.read(std::move(query), options), damaged_));
  }
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override {
    return EventStream(std::make_unique<Pages>(to_.read(std::move(aggregate), options), damaged_));
  }
  EventFeed follow(Query query, FollowOptions options = {}) override {
    return EventFeed(std::make_unique<Source>(to_.follow(std::move(query), options), damaged_));
  }
  Result<RecordedEvent> event_at(GlobalPosition position) override {
    if (damaged_.contains(position.value)) return refuse(damage(position));
    return to_.event_at(position);
  }

 private:
  static Error damage(GlobalPosition position) {
    ErrorDetails details;
    details.position = position;
    return {ErrorCode::corruption, "its checksum is wrong", std::move(details)};
  }
  /// The whole page ends with the first one, as it may where a page is made of several nodes'.
  static Result<void> check(const std::vector<RecordedEvent>& events, const std::set<std::uint64_t>& damaged) {
    for (const auto& event : events) {
      if (damaged.contains(event.position.value)) return refuse(damage(event.position));
    }
    return {};
  }
  class Pages final : public PagesOfValues {
   public:
    Pages(EventStream stream, const std::set<std::uint64_t>& damaged) : stream_(std::move(stream)), damaged_(damaged) {}
    Result<Page> next_page() override {
      auto page = stream_.next_page();
      if (page) EVERSHARD_TRY(check(page->events, damaged_));
      return page;
    }
    void cancel() override { stream_.cancel(); }

   private:
    EventStream stream_;
    const std::set<std::uint64_t>& damaged_;
  };
  class Source final : public FeedSource {
   public:
    Source(EventFeed feed, const std::set<std::uint64_t>& damaged) : feed_(std::move(feed)), damaged_(damaged) {}
    Result<FeedItem> next(std::chrono::milliseconds timeout) override {
      auto item = feed_.next(timeout);
      if (item) EVERSHARD_TRY(check(item->events, damaged_));
      return item;
    }
    void cancel() override { feed_.cancel(); }

   private:
    EventFeed feed_;
    const std::set<std::uint64_t>& damaged_;
  };

  const std::set<std::uint64_t> damaged_;
};

}  // namespace evershard::testing
