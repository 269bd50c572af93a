// The calls of EventStore that read one thing, and a store that is asked for it by them. Appends, reads and
// subscriptions have carriers of their own.

#pragma once

#include <memory>
#include <utility>

#include "evershard/api/calls/call.hpp"
#include "evershard/api/event_store.hpp"

namespace evershard::calls {

[[nodiscard]] const Calls<EventStore>& event_calls();

/// Events elsewhere.
class AskedEvents : public EventStore {
 public:
  explicit AskedEvents(std::shared_ptr<Asker> asker) : asker_(std::move(asker)) {}

  Result<GlobalPosition> head() override;
  Result<GlobalPosition> position_at(Timestamp at) override;
  Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {}) override;
  Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string> type, std::optional<AggregateId> after,
                                                std::size_t limit) override;
  Result<RecordedEvent> event_at(GlobalPosition position) override;
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                   std::optional<SeqNr> at_or_before = {}) override;
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) override;
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) override;

 private:
  const std::shared_ptr<Asker> asker_;
};

}  // namespace evershard::calls
