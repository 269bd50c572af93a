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
#include "evershard/actors/process/process_door.hpp"
#include "evershard/api/administration.hpp"
#include "evershard/api/documents.hpp"
#include "evershard/api/event_store.hpp"
#include "evershard/api/groups.hpp"
#include "evershard/api/processes.hpp"
#include "evershard/api/projections.hpp"
#include "evershard/api/retention.hpp"
#include "evershard/api/scheduled_appends.hpp"
#include "evershard/api/tables.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard {

namespace actors {
class TableChanges;
}
/// A user's, of a table that names it: what an event does with rows. May throw. Which changes there are:
/// <evershard/tables.hpp>.
using TableHandler = std::function<void(const RecordedEvent& event, actors::TableChanges& rows)>;

struct LocalProjectionOptions {
  bool enabled = true;                ///< false: definitions are kept and nothing is done about them
  std::size_t block_cache_bytes = 0;  ///< of their rows; 0: with the events' blocks, where the process has them
  std::size_t memtables_bytes = 64u << 20;
  std::size_t page_events_max = 8'192;  ///< of one that catches up
  std::size_t building_at_once = 2;     ///< at least 1
  std::size_t gathered_bytes_max =
      64u << 20;  ///< of changes of those that catch up, together, before they are written; 0: each page is written
  std::chrono::milliseconds pace{1};  ///< at least this long between two pages of those that have caught up
};

struct LocalOptions {
  std::filesystem::path data_dir{};  ///< empty: in memory, for tests
  std::filesystem::path keys_dir{};  ///< of subjects' keys, outside of `data_dir`: docs/erasure.md; empty:
                                     ///< nothing is sealed or opened
  bool create_keys = true;           ///< where `keys_dir` is missing; else not_found
  std::uint32_t shards = 0;          ///< 0: what the store has; 16 for a new one
  bool create = true;
  /// Looks, changes nothing: what is there is read, also where nothing can be written; what writes is refused, no index
  /// or table is kept up, nothing that is due is done.
  bool read_only = false;
  bool makes_scheduled = true;  ///< false: scheduled appends that are due wait for who opens the store otherwise
  Limits limits{};
  std::size_t tail_events = 262'144;
  /// Of sorted files. 0: an eighth of the machine's memory, or of what its container may use, shared by all stores of
  /// the process that say so.
  std::size_t block_cache_bytes = 0;
  std::size_t memtable_bytes = 32u << 20;
  std::size_t disk_reserve_bytes = 256u << 20;
  std::chrono::milliseconds at_least_timeout = std::chrono::seconds(30);  ///< how long a read waits for its `at_least`
  AggregateOptions aggregates{};
  LocalProjectionOptions projections{};
  /// For the log: a place that fell back over a restore, a timer or a process that cannot go on. Any thread. Absent:
  /// nobody is told.
  std::function<void(const Error&)> warn{};
};

/// Aggregates are hosted and asked here too: <evershard/aggregate.hpp>; processes are run: <evershard/process.hpp>.
class Local final : public ForwardedEvents, public ForwardedAdministration, public AggregateDoor, public ProcessDoor {
 public:
  /// Opens, or creates. Errors: invalid_argument (newer format, other shard count or hash), unavailable (opened by
  ///   another process), corruption (less recovered than acknowledged), io
  [[nodiscard]] static Result<Local> open(LocalOptions options = {});
  Local(Local&&) noexcept;
  Local& operator=(Local&&) noexcept;
  /// Closes; see close().
  ~Local() override;

  Result<Appended> append(Append append) override;
  void append_async(Append append, AppendCompletion done) override;
  EventFeed follow(Query query, FollowOptions options = {}) override;
  Result<void> put_snapshot(Snapshot snapshot) override;

  Result<void> host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) override;
  Asking ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options,
                   AnswerDone done) override;
  AnyAnswer ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                         AskOptions options) override;
  Result<StateBytes> state_bytes(const AggregateId& aggregate, StateRead how,
                                 std::chrono::milliseconds timeout) override;
  Result<StateBytes> state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) override;
  Result<void> take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) override;
  void passivate(const AggregateId& aggregate) override;

  /// In the order in which they were hosted, without instances of processes.
  [[nodiscard]] std::vector<std::shared_ptr<const AggregateKind>> hosted_kinds() const;

  Result<void> run_process(std::shared_ptr<const ProcessDefinition> process, ProcessOptions options,
                           Effects effects) override;
  [[nodiscard]] std::vector<ProcessStatus> process_status() const override;

  /// Why nothing is written any more, though reads are answered: a write has failed, and what of it is on the disk
  /// shows when the store is opened again. Absent: nothing has.
  [[nodiscard]] std::optional<Error> cannot_write() const;
  /// Another number each time events were removed or erased: what was read before may not be handed out as it is.
  [[nodiscard]] std::uint64_t rewritten() const;
  /// Why appends are refused for now, and reads answered: the disk has too little left. Absent: it has enough.
  [[nodiscard]] std::optional<Error> short_of_disk() const;
  /// The three parts of vacuum(), each by itself. Of rows those tables and types of which at least `removed_percent` of
  /// 100 were removed; 0: all.
  [[nodiscard]] Result<void> vacuum_events(Progress progress = {});
  [[nodiscard]] Result<void> vacuum_documents(unsigned removed_percent = 0, Progress progress = {});
  [[nodiscard]] Result<void> vacuum_projections(unsigned removed_percent = 0, Progress progress = {});

  /// Indexes and other projections: their rows lie in `DATA/projections`. As long as this Local.
  [[nodiscard]] Projections& projections();
  /// The tables among them. As long as this Local.
  [[nodiscard]] Tables& tables();
  /// A handler that tables can name; those that wait for it go on. It stays as long as this Local.
  /// Errors: invalid_argument: there is one of that name; a TypedTableHandler of an event and not of an old one that
  /// becomes it, by the aggregates hosted here
  [[nodiscard]] Result<void> add_table_handler(const std::string& name, TableHandler handler);
  /// Aggregates' state as JSON: its rows lie in `DATA/documents`. As long as this Local.
  [[nodiscard]] Documents& documents();
  /// Named subscriptions that keep how far they came, shared by workers. As long as this Local.
  [[nodiscard]] Groups& groups();
  /// Processes and timers as an operator sees and mends them. As long as this Local.
  [[nodiscard]] Processes& processes();
  /// Appends that are made at a later time, while this store is open. As long as this Local.
  [[nodiscard]] ScheduledAppends& scheduled();
  /// The same events, taking names that begin with `$` too: for a door in this process whose clients have such names,
  /// and which sees to it that none is the store's own. As long as this Local.
  [[nodiscard]] EventStore& all_names();
  /// Truncation, removal, time to live. As long as this Local.
  [[nodiscard]] HistoryRetention& retention();
  /// Scheduled appends that were made, refused or cancelled longer ago are removed, and listed no more; that each is
  /// over stays known. `evershard serve` does it by itself (`schedule-keep`). Errors: as HistoryRetention
  [[nodiscard]] Result<RetentionResult> remove_settled_schedules(std::chrono::milliseconds keep,
                                                                 RetentionOrder order = {}, Progress progress = {});

  /// Where it lies; empty: in memory. As long as this Local.
  [[nodiscard]] const std::filesystem::path& data_dir() const;
  [[nodiscard]] const Limits& limits() const;

  /// Answers everything under way, refuses everything new with `unavailable`, ends follows and streams; always ends.
  void close();

 private:
  struct Impl;
  explicit Local(std::unique_ptr<Impl> impl);
  [[nodiscard]] EventStore& events() const override;
  [[nodiscard]] Administration& administration() const override;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard
