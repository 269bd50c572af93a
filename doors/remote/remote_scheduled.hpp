// RemoteScheduled: the scheduled appends of a server.

#pragma once

#include <memory>

#include "evershard/api/scheduled_appends.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemoteScheduled final : public ScheduledAppends {
 public:
  explicit RemoteScheduled(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<ScheduledAppend> schedule(ScheduleOrder order) override;
  Result<ScheduledAppend> cancel(const std::string& id) override;
  Result<ScheduledAppend> get(const std::string& id) override;
  Result<ScheduledPage> list(ScheduledListing listing) override;

 private:
  const std::shared_ptr<Connection> connection_;
};

}  // namespace evershard::remote
