// The parts of the benchmark; each adds its figures to the report.

#pragma once

#include "evershard/api/event_store.hpp"
#include "evershard/bench/report.hpp"
#include "evershard/bench/run.hpp"

namespace evershard::bench {

/// A folder below the benchmark's own, emptied.
std::filesystem::path fresh(const BenchOptions& options, const std::string& name);

/// Reports a figure. Errors: the measurement's; cancelled, if the run is to stop
Result<void> add(const BenchOptions& options, Report& report, Result<Figure> figure);

/// The same bytes in a plain file: write and fdatasync a batch.
Result<Figure> plain_file(const BenchOptions& options, std::size_t batch);
/// The same entries in one synced WriteBatch: a journal row an event's shard, and five index rows an event.
Result<Figure> write_batch(const BenchOptions& options, std::size_t batch);
/// So many appends a commit, of so many events each, straight into the store; a reader on the tail beside it.
Result<Figure> storage_alone(const BenchOptions& options, std::size_t appends, std::size_t events_each);

/// A plain file, and the same entries in one synced WriteBatch.
Result<void> measure_ceilings(const BenchOptions& options, Report& report);
/// Storage::stage and commit, readers on the tail.
Result<void> measure_storage(const BenchOptions& options, Report& report);
/// The whole store: in flight by events an append, versions, conditions, shards.
Result<void> measure_appends(const BenchOptions& options, Report& report);
/// Latency at half load while runs are sealed; live following.
Result<void> measure_latency(const BenchOptions& options, Report& report);
Result<void> measure_reads(const BenchOptions& options, Report& report);
/// From an append's call to its delivery, one after the other.
Result<Figure> following(const BenchOptions& options, EventStore& store, EventFeed feed, const std::string& name);
/// Server and clients as processes.
Result<void> measure_door(const BenchOptions& options, Report& report);
/// What keys and a cluster add to a read.
Result<void> measure_served_reads(const BenchOptions& options, Report& report);
/// Requests and batches between two nodes.
Result<void> measure_link(const BenchOptions& options, Report& report);
/// Live aggregates: commands, queries, memory, cold starts.
Result<void> measure_aggregates(const BenchOptions& options, Report& report);
/// Reactions against commands; timers pending, firing, overdue.
Result<void> measure_processes(const BenchOptions& options, Report& report);
/// The coordinator alone, and simulated nodes around it.
Result<void> measure_ordering(const BenchOptions& options, Report& report);
/// Coordinator and nodes as processes, held against a server.
Result<void> measure_cluster(const BenchOptions& options, Report& report);
/// What three replicas cost, and how long their fail-overs take.
Result<void> measure_replicas(const BenchOptions& options, Report& report);
/// A part of it.
Result<void> measure_replica_faults(const BenchOptions& options, Report& report);
/// How long a node takes to have everything.
Result<void> measure_replica_copies(const BenchOptions& options, Report& report);
/// Tables and indexes that catch up, selects.
Result<void> measure_projections(const BenchOptions& options, Report& report);
/// Ten live projections at half of the append load.
Result<void> measure_live_projections(const BenchOptions& options, Report& report);
Result<void> measure_opening(const BenchOptions& options, Report& report);

}  // namespace evershard::bench
