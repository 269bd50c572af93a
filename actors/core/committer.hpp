// Committer: every append of a node, from the caller to its answer; the one writer of its store.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "evershard/actors/core/group_commit.hpp"
#include "evershard/actors/core/prepare.hpp"
#include "evershard/actors/core/shard_load.hpp"
#include "evershard/actors/core/watermark_watch.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/latencies.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::actors {

/// Called once, from the calling thread or one of the committer's: must not block, must not throw.
using AppendDone = std::function<void(Result<Appended>)>;

struct CommitterOptions {
  Limits limits{};
  bool takes_sealed = false;  ///< as of Preparer
  GroupCommit::Options group{};
  /// While a write is under way, the next batch is closed and staged as soon as it has so many appends or events; a
  /// smaller one stays open until the write is done, so that it takes in what comes meanwhile.
  std::size_t stage_early_appends = 32;
  std::size_t stage_early_events = 512;
};

struct CommitterStats {
  std::uint64_t appended = 0;    ///< placed and committed
  std::uint64_t duplicates = 0;  ///< answered as stored already
  std::uint64_t events = 0;
  std::uint64_t commits = 0;
  std::uint64_t prepared_again = 0;
  std::uint64_t waiting = 0;                ///< sent and not answered yet
  Latencies commit_latencies{};             ///< of writes with their sync
  std::array<std::uint64_t, 18> refused{};  ///< by ErrorCode
};

/// Prepares in the caller's thread, decides one append after another, writes batch after batch without a timer: what is
/// sent while a write is under way makes the next batch, which is decided and staged meanwhile.
///
/// Every append is answered exactly once. Any thread; calls that block not from a completion.
/// Order:   what one thread sends is decided in the order it was sent, but for what has to be prepared again (its
///          condition has to be confirmed, or memory did not reach back): that is decided as soon as it is ready.
/// Durable: what is answered as appended is synced; a refusal rests on synced events only.
/// Owner:   writes the store alone, which outlives it.
/// Source:  docs/internals/architecture.md, "An append".
class Committer {
 public:
  Committer(storage::Store& store, CommitterOptions options);
  ~Committer();  ///< stop()
  Committer(const Committer&) = delete;

  /// Errors: what Preparer::prepare says; version_conflict, condition_failed; overloaded; unavailable (stopped, or the
  ///         disk is full); io (the store has failed, nothing was written); timeout (a write failed, outcome unknown)
  [[nodiscard]] Result<Appended> append(Append append);
  void append_async(Append append, AppendDone done) { append_async(std::move(append), {}, std::move(done)); }
  /// Shape: an append to one aggregate, with the version it expects of it.
  void append_async(Append append, AppendChain chain, AppendDone done);

  /// Writes a snapshot alone. Errors: not_found: the aggregate has no such version yet; invalid_argument, too_large
  [[nodiscard]] Result<void> put_snapshot(Snapshot snapshot);
  /// Rewrites state rows and records of the journal, removes snapshots: all or none.
  ///
  /// Shape: of the records, nobody else rewrites them meanwhile, and their events are shown.
  [[nodiscard]] Result<void> write_rows(storage::RowWrites rows);
  /// An append, and rows that are written with its events in one write, or not at all: a retry of what is stored writes
  /// none.
  [[nodiscard]] Result<Appended> append_with(Append append, storage::RowWrites rows);

  /// Who waits gets `unavailable` when the committer stops, `io` when the store fails.
  [[nodiscard]] WatermarkWatch& watch() { return watch_; }
  [[nodiscard]] GlobalPosition watermark() const { return watch_.watermark(); }
  [[nodiscard]] CommitterStats stats() const;

  /// Refuses what is new with `unavailable`, answers everything sent before, ends the threads. Any number of times;
  /// from a completion it only refuses what is new.
  void stop();

 private:
  struct Request;
  using Lock = std::unique_lock<std::mutex>;

  // The functions by which a request comes in, and by which its answer goes out.
  [[nodiscard]] Result<void> admit() const;
  [[nodiscard]] Error closed() const;
  [[nodiscard]] Result<std::optional<Appended>> prepare(Append&& append, Request& request);
  [[nodiscard]] Result<void> send(Request& request);
  [[nodiscard]] Result<Appended> wait_for_answer(Request& request);
  void again(Request& request);
  void act(Actions& actions);
  void answer(Request& request, Result<Appended> result);
  Error refused(Error error);
  void leave();

  // Two roles, each held by one thread at a time: whoever decides takes the queue and stages a batch; whoever writes
  // commits it. A turn holds one after the other, so that two threads overlap one's staging with the other's sync.
  void queue(Request& request, std::vector<Request*>& queue, Lock& lock);
  [[nodiscard]] bool quiet() const;
  [[nodiscard]] bool can_decide() const;
  void turn(Lock& lock, Request* own);
  [[nodiscard]] std::size_t decide(Lock& lock, Request* own, Actions& actions);
  void write(Lock& lock, Batch& batch, std::unique_ptr<storage::StagedCommit> staged);
  void complete(Batch& batch, const std::optional<Error>& failure);
  void pace() const;
  [[nodiscard]] bool wake_one();

  void work();
  void prepare_again();

  storage::Store& store_;
  const CommitterOptions options_;
  Preparer preparer_;
  ShardLoad load_;
  WatermarkWatch watch_;

  mutable std::mutex mutex_;
  std::condition_variable work_;        ///< for the workers
  std::condition_variable write_turn_;  ///< for whoever has staged a batch
  std::condition_variable again_;       ///< for the thread that prepares again
  std::condition_variable left_;        ///< for stop()
  std::vector<Request*> queue_;
  std::vector<Request*> urgent_;      ///< prepared again: decided before the queue
  std::vector<Request*> to_prepare_;  ///< again, for callers that do not wait
  std::size_t backlog_events_ = 0;    ///< of what came by the queue and is not decided
  bool deciding_ = false;
  bool writing_ = false;
  std::uint64_t staged_ = 0;  ///< batches, since the start
  std::uint64_t written_ = 0;
  std::uint32_t idle_ = 0;  ///< workers
  bool woken_ = false;      ///< a worker was woken, and is on its way
  bool ended_ = false;
  std::optional<Error> failed_;
  std::atomic<bool> closed_{false};       ///< stopping or failed: nothing new
  std::atomic<std::uint64_t> inside_{0};  ///< requests not answered yet

  // Of whoever decides.
  GroupCommit group_;
  std::vector<Request*> taken_;  ///< from the queue
  std::size_t taken_next_ = 0;
  std::vector<Request*> taken_urgent_;
  bool failure_known_ = false;

  struct Counters {
    std::atomic<std::uint64_t> appended{0}, duplicates{0}, events{0}, commits{0}, again{0};
    std::array<std::atomic<std::uint64_t>, 18> refused{};
    LatencyCounter commit_latencies;
  };
  Counters counters_;

  std::mutex stop_mutex_;
  std::vector<std::thread> threads_;
  std::vector<std::thread::id> thread_ids_;
};

}  // namespace evershard::actors
