// SealedEvents: a store whose payloads are sealed where they have a subject.

#pragma once

#include <memory>

#include "evershard/api/event_store.hpp"
#include "evershard/services/erasure/sealing.hpp"
#include "evershard/services/erasure/sealing_queue.hpp"

namespace evershard::cluster {

/// Streams and feeds may outlive it: they keep what opens them.
class SealedEvents final : public ForwardedEvents {
 public:
  /// `queue`: where keys are waited for; null: they are at hand. Owner: store and queue outlive it.
  SealedEvents(EventStore& store, std::shared_ptr<const Sealing> sealing, SealingQueue* queue = nullptr)
      : store_(store), sealing_(std::move(sealing)), queue_(queue) {}

  using ForwardedEvents::read;
  Result<Appended> append(Append append) override;
  void append_async(Append append, AppendCompletion done) override;
  EventStream read(Query query, ReadOptions options = {}) override;
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override;
  EventFeed follow(Query query, FollowOptions options = {}) override;
  Result<RecordedEvent> event_at(GlobalPosition position) override;
  Result<void> put_snapshot(Snapshot snapshot) override;
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                   std::optional<SeqNr> at_or_before = {}) override;
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) override;
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) override;

 private:
  [[nodiscard]] EventStore& events() const override { return store_; }

  EventStore& store_;
  const std::shared_ptr<const Sealing> sealing_;
  SealingQueue* const queue_;
};

}  // namespace evershard::cluster
