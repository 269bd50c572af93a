// Local: the whole store in one process, durable or in memory.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/cluster/store/administration.hpp"
#include "evershard/cluster/store/event_store.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard {

struct LocalOptions {
  std::filesystem::path data_dir{};  ///< empty: in memory, for tests
  std::uint32_t shards = 0;          ///< 0: what the store has; 16 for a new one
  bool create = true;
  Limits limits{};
  std::size_t tail_events = 262'144;
  std::size_t block_cache_bytes = 128u << 20;
  std::size_t memtable_bytes = 32u << 20;
  std::size_t disk_reserve_bytes = 256u << 20;
  std::chrono::milliseconds at_least_timeout = std::chrono::seconds(30);  ///< how long a read waits for its `at_least`
  AggregateOptions aggregates{};
};

/// Aggregates are hosted and asked here too: <evershard/aggregate.hpp>.
class Local final : public EventStore, public Administration, public AggregateDoor {
 public:
  /// Opens, or creates. Errors: invalid_argument (newer format, other shard count or hash), unavailable (opened by
  ///   another process), corruption (less recovered than acknowledged), io
  [[nodiscard]] static Result<Local> open(LocalOptions options = {});
  Local(Local&&) noexcept;
  Local& operator=(Local&&) noexcept;
  /// Closes; see close().
  ~Local() override;

  using EventStore::read;
  Result<Appended> append(Append append) override;
  void append_async(Append append, AppendCompletion done) override;
  EventStream read(Query query, ReadOptions options = {}) override;
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override;
  EventFeed follow(Query query, FollowOptions options = {}) override;
  Result<GlobalPosition> head() override;
  Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override;
  Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {}) override;
  Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string> type, std::optional<AggregateId> after, std::size_t limit) override;
  Result<RecordedEvent> event_at(GlobalPosition position) override;
  Result<void> put_snapshot(Snapshot snapshot) override;
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate, std::optional<SeqNr> at_or_before = {}) override;
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) override;
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) override;

  Result<void> host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) override;
  Asking ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options, AnswerDone done) override;
  AnyAnswer ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options) override;
  Result<StateBytes> state_bytes(const AggregateId& aggregate, StateRead how, std::chrono::milliseconds timeout) override;
  Result<StateBytes> state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) override;
  Result<void> take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) override;
  void passivate(const AggregateId& aggregate) override;

  Result<StoreStats> stats() const override;
  Result<void> flush() override;
  Result<VerifyReport> verify(Progress progress = {}) override;
  Result<void> vacuum(Progress progress = {}) override;
  using Administration::backup;
  Result<GlobalPosition> backup(const std::filesystem::path& target, BackupOptions options = {}, Progress progress = {}) override;

  /// Answers everything under way, refuses everything new with `unavailable`, ends follows and streams; always ends.
  void close();

 private:
  struct Impl;
  explicit Local(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard
