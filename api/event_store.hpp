// EventStore: what every door offers: the store in this process, a cluster's node, a remote server.

#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/api/event_feed.hpp"
#include "evershard/api/event_stream.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

/// Called once, from a thread of the store: must not block and must not throw.
using AppendCompletion = std::function<void(Result<Appended>)>;

/// Blocking and asynchronous, from any thread. Nothing throws.
///
/// Order: appends sent from one thread one after the other are decided in that order; of a cluster, those to one shard,
/// but for what another node must be asked about first: a condition, other shards.
class EventStore {
 public:
  virtual ~EventStore() = default;

  /// Errors: version_conflict, condition_failed, duplicate_event, invalid_argument, invalid_query, too_large,
  ///         overloaded, unavailable, io, timeout (outcome unknown)
  /// Durable: on return the events survive loss of power.
  [[nodiscard]] virtual Result<Appended> append(Append append) = 0;
  virtual void append_async(Append append, AppendCompletion done) = 0;
  [[nodiscard]] std::future<Result<Appended>> append_future(Append append);

  /// Everything, or a query's matches, in position order, as of the watermark when the read begins.
  [[nodiscard]] virtual EventStream read(Query query, ReadOptions options = {}) = 0;
  /// One aggregate's events in order of seq_nr.
  [[nodiscard]] virtual EventStream read(AggregateId aggregate, StreamOptions options = {}) = 0;
  [[nodiscard]] EventStream read(std::string_view aggregate, StreamOptions options = {});
  /// Catches up, says so, and goes on live: the same read, repeated whenever the watermark moves.
  [[nodiscard]] virtual EventFeed follow(Query query, FollowOptions options = {}) = 0;

  /// The watermark: every event up to this position is there and stays.
  [[nodiscard]] virtual Result<GlobalPosition> head() = 0;
  /// Waits until the watermark has reached a position. Errors: timeout
  [[nodiscard]] virtual Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) = 0;
  /// The last position at or before a time, the end of an append: `backup --up-to` takes it, and a read `after` it
  /// misses nothing that is later. 0: nothing is that old. A time that is not past: the head.
  ///
  /// An event's time is its occurred_at, that of its append unless the append says another one. docs/command-line.md
  /// says what holds where these are out of order, and where events were removed.
  [[nodiscard]] virtual Result<GlobalPosition> position_at(Timestamp at);
  /// Absent aggregates: not_found.
  [[nodiscard]] virtual Result<AggregateInfo> aggregate(const AggregateId& aggregate,
                                                        std::optional<GlobalPosition> up_to = {}) = 0;
  /// The directory: by type (absent: all), in order of type and value.
  [[nodiscard]] virtual Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string> type,
                                                                      std::optional<AggregateId> after,
                                                                      std::size_t limit) = 0;
  [[nodiscard]] virtual Result<RecordedEvent> event_at(GlobalPosition position) = 0;

  /// Writes a snapshot alone. Errors: not_found: the aggregate has no such version yet; too_large, invalid_argument
  [[nodiscard]] virtual Result<void> put_snapshot(Snapshot snapshot) = 0;
  /// Absent version: the latest; else the newest at or before it.
  [[nodiscard]] virtual Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                                         std::optional<SeqNr> at_or_before = {}) = 0;
  /// The newest one as of a position.
  [[nodiscard]] virtual Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate,
                                                                               GlobalPosition up_to) = 0;
  [[nodiscard]] virtual Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) = 0;
};

/// All of it as another one does it: for who offers a store of another's, or wraps one and does some of it otherwise.
/// Here a new call has its line for all of them.
class ForwardedEvents : public EventStore {
 public:
  using EventStore::read;
  Result<Appended> append(Append append) override { return events().append(std::move(append)); }
  void append_async(Append append, AppendCompletion done) override {
    events().append_async(std::move(append), std::move(done));
  }
  EventStream read(Query query, ReadOptions options = {}) override { return events().read(std::move(query), options); }
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override {
    return events().read(std::move(aggregate), options);
  }
  EventFeed follow(Query query, FollowOptions options = {}) override {
    return events().follow(std::move(query), options);
  }
  Result<GlobalPosition> head() override { return events().head(); }
  Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override {
    return events().wait_for(position, timeout);
  }
  Result<GlobalPosition> position_at(Timestamp at) override { return events().position_at(at); }
  Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {}) override {
    return events().aggregate(aggregate, up_to);
  }
  Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string> type, std::optional<AggregateId> after,
                                                std::size_t limit) override {
    return events().aggregates(std::move(type), std::move(after), limit);
  }
  Result<RecordedEvent> event_at(GlobalPosition position) override { return events().event_at(position); }
  Result<void> put_snapshot(Snapshot snapshot) override { return events().put_snapshot(std::move(snapshot)); }
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                   std::optional<SeqNr> at_or_before = {}) override {
    return events().snapshot(aggregate, at_or_before);
  }
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) override {
    return events().snapshot_as_of(aggregate, up_to);
  }
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) override {
    return events().snapshots(aggregate);
  }

 private:
  [[nodiscard]] virtual EventStore& events() const = 0;
};

}  // namespace evershard
