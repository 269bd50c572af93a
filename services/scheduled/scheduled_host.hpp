// ScheduledHost: the scheduled appends of a store, made when they are due.

#pragma once

#include <chrono>
#include <string>

#include "evershard/api/event_store.hpp"
#include "evershard/api/scheduled_appends.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/services/scheduled/due_appends.hpp"
#include "evershard/services/scheduled/schedule_stream.hpp"
#include "evershard/services/timers/due_host.hpp"

namespace evershard::cluster {

/// Any thread. Owner: `events`, which takes reserved names, outlives it.
class ScheduledHost final : public ScheduledAppends, private DueWork {
 public:
  ScheduledHost(EventStore& events, Limits limits, DueHostOptions options);

  /// From here on those that are due are made. Idempotent; not behind stop().
  void begin() { host_.begin(); }
  /// Begins if the store has schedules, or cannot say whether it has: schedules that cannot be read are passed over
  /// later. Else the first append that is scheduled here begins the host.
  void begin_if_any();
  [[nodiscard]] DueAppendsFigures figures() const;
  /// See DueHost.
  void stop() { host_.stop(); }

  [[nodiscard]] Result<ScheduledAppend> schedule(ScheduleOrder order) override;
  [[nodiscard]] Result<ScheduledAppend> cancel(const std::string& id) override;
  [[nodiscard]] Result<ScheduledAppend> get(const std::string& id) override;
  [[nodiscard]] Result<ScheduledPage> list(ScheduledListing listing) override;

 private:
  [[nodiscard]] Query query() const override { return DueAppends::query(); }
  [[nodiscard]] Result<void> event(const RecordedEvent& event) override { return due_.event(event); }
  [[nodiscard]] actors::PacedQueue& queue() override { return due_.queue(); }
  [[nodiscard]] Send fire(const actors::DueTimer& timer, const Result<RecordedEvent>& set, Timestamp now) override;
  void send(const actors::DueTimer& timer, const Append& append, Told told);

  /// Once that version is seen here.
  [[nodiscard]] Result<ScheduleStream> read(const AggregateId& schedule, SeqNr at_least);
  [[nodiscard]] Result<ScheduledAppend> written(const std::string& id, const Appended& appended);
  [[nodiscard]] Result<ScheduledPage> list_waiting(const ScheduledListing& listing);
  [[nodiscard]] Result<ScheduledPage> list_all(const ScheduledListing& listing);

  EventStore& events_;
  const Limits limits_;
  const std::function<Timestamp()> now_;
  DueAppends due_;
  DueHost host_;  ///< last: it ends first
};

}  // namespace evershard::cluster
