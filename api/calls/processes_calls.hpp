// The calls of Processes, and the processes that are asked for by them.

#pragma once

#include <memory>
#include <utility>

#include "evershard/api/calls/call.hpp"
#include "evershard/api/processes.hpp"

namespace evershard::calls {

[[nodiscard]] const Calls<Processes>& processes_calls();

/// Processes elsewhere.
class AskedProcesses final : public Processes {
 public:
  explicit AskedProcesses(std::shared_ptr<Asker> asker) : asker_(std::move(asker)) {}

  Result<std::vector<ProcessInfo>> processes() override;
  Result<ProcessInfo> process(const std::string& name) override;
  Result<std::vector<ProcessInstance>> instances(const std::string& name, const std::string& after,
                                                 std::size_t limit) override;
  Result<std::vector<ParkedEffect>> parked_effects(const std::string& name) override;
  Result<GlobalPosition> control(const std::string& name, const ProcessControl& control) override;
  Result<TimerPage> timers(const TimerListing& listing) override;
  Result<void> cancel_timer(const AggregateId& aggregate, const std::string& name) override;

 private:
  const std::shared_ptr<Asker> asker_;
};

}  // namespace evershard::calls
