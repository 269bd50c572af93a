// OpenedStore: the store a command works on, in this process or of a server; commands cannot tell which.

#pragma once

#include <memory>

#include "evershard/doors/remote/remote.hpp"
#include "evershard/local/local.hpp"

namespace evershard::cli {

class OpenedStore final : public EventStore, public ForwardedAdministration {
 public:
  OpenedStore(Local local) : OpenedStore(std::make_unique<Local>(std::move(local))) {}
  OpenedStore(Remote remote) : OpenedStore(std::make_unique<Remote>(std::move(remote))) {}

  using EventStore::read;
  Result<Appended> append(Append append) override { return store_->append(std::move(append)); }
  void append_async(Append append, AppendCompletion done) override {
    store_->append_async(std::move(append), std::move(done));
  }
  EventStream read(Query query, ReadOptions options = {}) override { return store_->read(std::move(query), options); }
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override {
    return store_->read(std::move(aggregate), options);
  }
  EventFeed follow(Query query, FollowOptions options = {}) override {
    return store_->follow(std::move(query), options);
  }
  Result<GlobalPosition> head() override { return store_->head(); }
  Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override {
    return store_->wait_for(position, timeout);
  }
  Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {}) override {
    return store_->aggregate(aggregate, up_to);
  }
  Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string> type, std::optional<AggregateId> after,
                                                std::size_t limit) override {
    return store_->aggregates(std::move(type), std::move(after), limit);
  }
  Result<RecordedEvent> event_at(GlobalPosition position) override { return store_->event_at(position); }
  Result<void> put_snapshot(Snapshot snapshot) override { return store_->put_snapshot(std::move(snapshot)); }
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                   std::optional<SeqNr> at_or_before = {}) override {
    return store_->snapshot(aggregate, at_or_before);
  }
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) override {
    return store_->snapshot_as_of(aggregate, up_to);
  }
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) override {
    return store_->snapshots(aggregate);
  }

  [[nodiscard]] Projections& projections() { return *projections_; }
  [[nodiscard]] Tables& tables() { return *tables_; }
  [[nodiscard]] Groups& groups() { return *groups_; }
  [[nodiscard]] Documents& documents() { return *documents_; }
  [[nodiscard]] ScheduledAppends& scheduled() { return *scheduled_; }
  [[nodiscard]] Processes& processes() { return *processes_; }
  [[nodiscard]] HistoryRetention& retention() { return *retention_; }

 private:
  [[nodiscard]] Administration& administration() const override { return *administration_; }
  template <class Store>
  explicit OpenedStore(std::unique_ptr<Store> store)
      : administration_(store.get()),
        projections_(&store->projections()),
        groups_(&store->groups()),
        documents_(&store->documents()),
        tables_(&store->tables()),
        retention_(&store->retention()),
        scheduled_(&store->scheduled()),
        processes_(&store->processes()),
        store_(std::move(store)) {}

  Administration* administration_;
  Projections* projections_;
  Groups* groups_;
  Documents* documents_;
  Tables* tables_;
  HistoryRetention* retention_;
  ScheduledAppends* scheduled_;
  Processes* processes_;
  std::unique_ptr<EventStore> store_;
};

}  // namespace evershard::cli
