// LentLocal: a whole store in this process, in service for as long as it is lent.

#pragma once

#include "evershard/doors/server/store_in_service.hpp"
#include "evershard/local/local.hpp"

namespace evershard::server {

/// A store in this process, which somebody else opens and closes. Owner: it outlives this, and stays where it is.
class LentLocal : public StoreInService {
 public:
  /// `hosts`: aggregates that are asked commands.
  LentLocal(Local& store, bool hosts) : store_(store), hosts_(hosts) {}
  [[nodiscard]] EventStore& store() override { return store_; }
  [[nodiscard]] EventStore& all_names() override { return store_.all_names(); }
  [[nodiscard]] Administration& administration() override { return store_; }
  [[nodiscard]] Groups* groups() override { return &store_.groups(); }
  [[nodiscard]] ScheduledAppends& scheduled() override { return store_.scheduled(); }
  [[nodiscard]] Processes& processes() override { return store_.processes(); }
  [[nodiscard]] AggregateDoor* aggregates() override { return hosts_ ? &store_ : nullptr; }
  [[nodiscard]] HistoryRetention& retention() override { return store_.retention(); }
  [[nodiscard]] Result<void> retain(const RetentionOrder& order, const Progress& progress) override {
    auto done = store_.retention().apply_retention(order, progress);
    if (!done) return refuse(std::move(done).error());
    return {};
  }
  [[nodiscard]] Result<void> remove_settled_schedules(std::chrono::milliseconds keep, const RetentionOrder& order,
                                                      const Progress& progress) override {
    auto done = store_.remove_settled_schedules(keep, order, progress);
    if (!done) return refuse(std::move(done).error());
    return {};
  }
  [[nodiscard]] Tables* tables() override { return &store_.tables(); }
  [[nodiscard]] Documents* documents() override { return &store_.documents(); }
  [[nodiscard]] Projections* projections() override { return &store_.projections(); }
  [[nodiscard]] Result<void> vacuum_events(const Progress& progress) override { return store_.vacuum_events(progress); }
  [[nodiscard]] Result<void> vacuum_documents(unsigned removed_percent, const Progress& progress) override {
    return store_.vacuum_documents(removed_percent, progress);
  }
  [[nodiscard]] Result<void> vacuum_projections(unsigned removed_percent, const Progress& progress) override {
    return store_.vacuum_projections(removed_percent, progress);
  }
  [[nodiscard]] std::uint64_t rewritten() override { return store_.rewritten(); }
  [[nodiscard]] std::optional<Error> cannot_write() override { return store_.cannot_write(); }
  [[nodiscard]] std::optional<Error> short_of_disk() override { return store_.short_of_disk(); }
  void close() override {}

 private:
  Local& store_;
  const bool hosts_;
};

}  // namespace evershard::server
