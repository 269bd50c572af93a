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
#include "evershard/cluster/event_store.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard {

/// Live aggregates of a store.
struct AggregateOptions {
  std::size_t live_limit = 100'000;  ///< idle aggregates beyond it leave memory; busy ones never do
  std::chrono::milliseconds idle_after = std::chrono::seconds(60);  ///< then an idle one leaves memory; 0: never
  std::uint32_t recovery_permits = 50;  ///< aggregates that load at once
  std::size_t reading_threads = 2;      ///< for loads, decision models and look-ups
};

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

/// Which store it is.
struct StoreInfo {
  std::string store_id;
  std::uint32_t shards = 0;
  std::uint32_t format = 0;
  std::uint32_t hash = 0;
  Timestamp created_at;
};

/// Figures of a running store; details by family and part.
struct LocalStats {
  StoreInfo info;
  GlobalPosition watermark;
  GlobalPosition sealed;  ///< indexes up to here lie in sorted files
  std::uint64_t tail_events = 0;
  std::uint64_t commits = 0;
  std::uint64_t appends = 0;
  std::uint64_t refused = 0;
  std::uint64_t disk_bytes = 0;
  std::uint64_t disk_free_bytes = 0;
  std::uint64_t memory_bytes = 0;
  bool backend_assertions = false;
  std::vector<std::pair<std::string, std::uint64_t>> details;
};

/// Long work reports how far it is, in its own unit; false stops it at the next safe point (`cancelled`).
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

/// What verify found. Errors found are listed, at most 100, each a sentence that names shard and offset, or file.
struct VerifyReport {
  std::uint64_t events = 0;
  std::uint64_t records = 0;
  std::uint64_t index_rows = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t errors = 0;
  std::vector<std::string> findings;
};

/// Aggregates are hosted and asked here too: <evershard/aggregate.hpp>.
class Local final : public EventStore, public AggregateDoor {
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

  [[nodiscard]] LocalStats stats() const;
  /// Seals the tail: the next opening has nothing to rebuild.
  Result<void> flush();
  /// Checks everything while running: records, order, indexes against a rebuild. Errors: io, cancelled; damage is in the report.
  Result<VerifyReport> verify(Progress progress = {});
  /// Reclaims what removals and superseded rows left.
  Result<void> vacuum(Progress progress = {});
  /// A copy, opened by itself like any store, while this one runs. Errors: invalid_argument (the target is not empty), io
  Result<void> backup(const std::filesystem::path& target, Progress progress = {});

  /// Answers everything under way, refuses everything new with `unavailable`, ends follows and streams; always ends.
  void close();

 private:
  struct Impl;
  explicit Local(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard
