// The calls of ScheduledAppends, and the scheduled appends that are asked for by them.

#pragma once

#include <memory>
#include <utility>

#include "evershard/api/calls/call.hpp"
#include "evershard/api/scheduled_appends.hpp"

namespace evershard::calls {

[[nodiscard]] const Calls<ScheduledAppends>& scheduled_calls();

/// Scheduled appends elsewhere.
class AskedScheduled final : public ScheduledAppends {
 public:
  explicit AskedScheduled(std::shared_ptr<Asker> asker) : asker_(std::move(asker)) {}

  Result<ScheduledAppend> schedule(ScheduleOrder order) override;
  Result<ScheduledAppend> cancel(const std::string& id) override;
  Result<ScheduledAppend> get(const std::string& id) override;
  Result<ScheduledPage> list(ScheduledListing listing) override;

 private:
  const std::shared_ptr<Asker> asker_;
};

}  // namespace evershard::calls
