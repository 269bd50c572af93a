// RemoteProcesses: the processes and timers of a server's store.

#pragma once

#include <memory>

#include "evershard/api/processes.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemoteProcesses final : public Processes {
 public:
  explicit RemoteProcesses(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<std::vector<ProcessInfo>> processes() override;
  Result<ProcessInfo> process(const std::string& name) override;
  Result<std::vector<ProcessInstance>> instances(const std::string& name, const std::string& after,
                                                 std::size_t limit) override;
  Result<std::vector<ParkedEffect>> parked_effects(const std::string& name) override;
  Result<GlobalPosition> control(const std::string& name, const ProcessControl& control) override;
  Result<TimerPage> timers(const TimerListing& listing) override;
  Result<void> cancel_timer(const AggregateId& aggregate, const std::string& name) override;

 private:
  const std::shared_ptr<Connection> connection_;
};

}  // namespace evershard::remote
