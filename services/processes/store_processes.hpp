// StoreProcesses: processes and timers as the store's events show them, and what is wanted of them as events.

#pragma once

#include "evershard/api/event_store.hpp"
#include "evershard/api/processes.hpp"

namespace evershard::cluster {

/// Any thread. Owner: `events`, which takes reserved names, outlives it.
class StoreProcesses final : public Processes {
 public:
  explicit StoreProcesses(EventStore& events) : events_(events) {}

  [[nodiscard]] Result<std::vector<ProcessInfo>> processes() override;
  [[nodiscard]] Result<ProcessInfo> process(const std::string& name) override;
  [[nodiscard]] Result<std::vector<ProcessInstance>> instances(const std::string& name, const std::string& after,
                                                               std::size_t limit) override;
  [[nodiscard]] Result<std::vector<ParkedEffect>> parked_effects(const std::string& name) override;
  [[nodiscard]] Result<GlobalPosition> control(const std::string& name, const ProcessControl& control) override;
  [[nodiscard]] Result<TimerPage> timers(const TimerListing& listing) override;
  [[nodiscard]] Result<void> cancel_timer(const AggregateId& aggregate, const std::string& name) override;

 private:
  [[nodiscard]] Result<void> check(const ProcessInfo& info, const ProcessControl& control);

  EventStore& events_;
};

}  // namespace evershard::cluster
