// Cluster: a node of a cluster in this process: the whole store, and all its aggregates, wherever they live.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/actors/process/process_door.hpp"
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

/// Mutual TLS between the processes of a cluster, as docs/internals/link.md says. All three or none.
struct ClusterTls {
  std::filesystem::path certificate{};  ///< PEM
  std::filesystem::path key{};
  std::filesystem::path ca{};  ///< of the cluster's certificates, and of nothing else
  bool unbound = false;  ///< takes certificates that do not name a node: whoever has one of the CA may be any node
};

/// Like the options of `evershard node`.
struct ClusterOptions {
  std::uint32_t node = 0;               ///< which node this is, from 1; for good
  std::filesystem::path data_dir{};     ///< of this node alone; empty: in memory, for tests
  std::string coordinator{};            ///< HOST:PORT; of several, all, with commas: one of them leads
  std::filesystem::path secret_file{};  ///< shared by all processes of the cluster; readable by its owner only
  ClusterTls tls{};
  bool peers_insecure = false;               ///< lets processes of other machines in without TLS
  std::string cluster = "evershard";         ///< the cluster's name
  std::string peers_listen = "127.0.0.1:0";  ///< HOST:PORT; port 0: a free one
  std::string peers_address{};               ///< HOST:PORT where the others reach it; empty: where it listens
  std::uint32_t shards = 0;                  ///< of the cluster; 0: as the directory or the coordinator says
  bool create = true;
  bool skip_lost =
      false;  ///< reads pass over what an operator gave up (`cluster assign --accept-loss`), instead of being refused
  Limits limits{};
  std::size_t tail_events = 262'144;
  std::size_t block_cache_bytes = 0;  ///< as LocalOptions has it
  std::size_t memtable_bytes = 32u << 20;
  std::size_t disk_reserve_bytes = 256u << 20;
  std::chrono::milliseconds coordinator_timeout = std::chrono::seconds(60);  ///< how long join() waits for it
  std::chrono::milliseconds timeout =
      std::chrono::seconds(10);  ///< of an append, of what other nodes are asked for, and of a read's `at_least`
  AggregateOptions aggregates{};
  std::size_t waiting_limit =
      20'000;  ///< commands that wait for a node that is not there just now; beyond it: `overloaded`
  std::size_t waiting_bytes = 64u << 20;     ///< their bytes
  std::function<void(const Error&)> warn{};  ///< for the log: who was refused, what this node has lost; any thread
};

/// Aggregates are hosted and asked here too, as on a Local: <evershard/aggregate.hpp>. Each lives on the node that owns
/// its shard, one in the whole cluster, if that node hosts its type; a command from any node reaches it there.
///
/// Streams, feeds and handles end before it.
class Cluster final : public ForwardedEvents, public AggregateDoor, public ProcessDoor {
 public:
  /// Opens this node's part of the store, or creates it, and joins.
  /// Errors: invalid_argument (options; another shard count, cluster or node than the directory's; unsafe links),
  ///         unavailable (no coordinator; the directory is open), corruption, io
  [[nodiscard]] static Result<Cluster> join(ClusterOptions options);
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;
  /// Closes; see close().
  ~Cluster() override;

  [[nodiscard]] Result<void> host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) override;
  Asking ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options,
                   AnswerDone done) override;
  [[nodiscard]] AnyAnswer ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                                       AskOptions options) override;
  [[nodiscard]] Result<StateBytes> state_bytes(const AggregateId& aggregate, StateRead how,
                                               std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<StateBytes> state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) override;
  [[nodiscard]] Result<void> take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) override;
  void passivate(const AggregateId& aggregate) override;

  /// In the order in which they were hosted, without instances of processes.
  [[nodiscard]] std::vector<std::shared_ptr<const AggregateKind>> hosted_kinds() const;

  /// Each process runs on the node that owns the shard of `$process-NAME`, if that node's program runs it.
  Result<void> run_process(std::shared_ptr<const ProcessDefinition> process, ProcessOptions options,
                           Effects effects) override;
  [[nodiscard]] std::vector<ProcessStatus> process_status() const override;

  /// Indexes and other projections of the cluster. Each is kept by the node that owns the shard of `$projection-NAME`,
  /// its home; asked for from any. As long as this Cluster.
  [[nodiscard]] Projections& projections();
  /// The tables among them.
  [[nodiscard]] Tables& tables();
  /// A handler that tables can name. Shape: on every node, as any of them may be a table's home: where it is missing
  /// the table waits. Errors: invalid_argument: there is one of that name
  [[nodiscard]] Result<void> add_table_handler(const std::string& name, TableHandler handler);
  /// Aggregates' state as JSON. Each node that is asked for documents keeps rows of its own, from then on.
  [[nodiscard]] Documents& documents();
  /// Consumer groups of the cluster. Each is hosted by the node that owns the shard of `$group-NAME`; asked for, and
  /// worked, from any. As long as this Cluster.
  [[nodiscard]] Groups& groups();

  /// Processes and timers of the cluster as an operator sees and mends them. As long as this Cluster.
  [[nodiscard]] Processes& processes();
  /// Appends that are made at a later time, each by the node that owns the shard of `$schedule-ID`. As long as this
  /// Cluster.
  [[nodiscard]] ScheduledAppends& scheduled();

  /// Truncation, removal, time to live, each done by the node that owns the shard. As long as this Cluster.
  [[nodiscard]] HistoryRetention& retention();
  /// As Local has it, of the shards that are this node's just now: every node does its own.
  [[nodiscard]] Result<RetentionResult> remove_settled_schedules(std::chrono::milliseconds keep,
                                                                 RetentionOrder order = {}, Progress progress = {});

  /// Which node owns the shard of an aggregate, as this one knows it; 0: none just now.
  [[nodiscard]] std::uint32_t node_of(const AggregateId& aggregate) const;
  /// Live aggregates here, and how often what happened to them: name and count.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> figures() const;

  /// Answers everything under way, refuses everything new with `unavailable`; its shards have no node until it joins
  /// again. Idempotent.
  void close();

 private:
  struct Impl;
  friend struct ClusterParts;
  explicit Cluster(std::unique_ptr<Impl> impl);
  [[nodiscard]] EventStore& events() const override;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard
