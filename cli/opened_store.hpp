// OpenedStore: the store a command works on, in this process or of a server; commands cannot tell which.

#pragma once

#include <memory>

#include "evershard/doors/remote/remote.hpp"
#include "evershard/local/local.hpp"

namespace evershard::cli {

class OpenedStore final : public ForwardedEvents, public ForwardedAdministration {
 public:
  OpenedStore(Local local) : OpenedStore(std::make_unique<Local>(std::move(local))) {}
  OpenedStore(Remote remote) : OpenedStore(std::make_unique<Remote>(std::move(remote))) {}

  [[nodiscard]] Projections& projections() { return *projections_; }
  [[nodiscard]] Tables& tables() { return *tables_; }
  [[nodiscard]] Groups& groups() { return *groups_; }
  [[nodiscard]] Documents& documents() { return *documents_; }
  [[nodiscard]] ScheduledAppends& scheduled() { return *scheduled_; }
  [[nodiscard]] Processes& processes() { return *processes_; }
  [[nodiscard]] HistoryRetention& retention() { return *retention_; }

 private:
  [[nodiscard]] EventStore& events() const override { return *store_; }
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
