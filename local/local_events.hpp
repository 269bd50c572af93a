// LocalEvents: the events of a store in this process, reserved names included: for what the store itself keeps as
// events.

#pragma once

#include <memory>

#include "evershard/api/event_store.hpp"
#include "evershard/local/node.hpp"

namespace evershard::cluster {

/// Local without the refusal of names that begin with `$`.
class LocalEvents final : public EventStore {
 public:
  explicit LocalEvents(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  using EventStore::read;
  Result<Appended> append(Append append) override;
  void append_async(Append append, AppendCompletion done) override;
  EventStream read(Query query, ReadOptions options = {}) override;
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override;
  EventFeed follow(Query query, FollowOptions options = {}) override;
  Result<GlobalPosition> head() override;
  Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override;
  Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {}) override;
  Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string> type, std::optional<AggregateId> after,
                                                std::size_t limit) override;
  Result<RecordedEvent> event_at(GlobalPosition position) override;
  Result<void> put_snapshot(Snapshot snapshot) override;
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                   std::optional<SeqNr> at_or_before = {}) override;
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) override;
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) override;

 private:
  template <class Find>
  auto find_snapshot(const AggregateId& aggregate, Find find) -> decltype(find(std::declval<const storage::Reader&>()));

  [[nodiscard]] Result<void> check_conditions(const Append& append) const;

  const std::shared_ptr<Node> node_;
};

}  // namespace evershard::cluster
