// ProjectionEngine: drives the projections that are defined: few threads, each version of each at its own place behind
// the watermark.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/api/projections.hpp"
#include "evershard/protocol/kept_place.hpp"
#include "evershard/services/engine/projection_run.hpp"
#include "evershard/services/engine/run_driver.hpp"
#include "evershard/services/indexes/definition.hpp"
#include "evershard/services/indexes/definition_fold.hpp"
#include "evershard/services/indexes/processor.hpp"
#include "evershard/services/rows/projection_store.hpp"

namespace evershard::cluster {

struct EngineOptions {
  std::size_t page_events_max = 8'192;  ///< of a projection that catches up; a page's bytes are the store's limit
  std::size_t building_at_once = 2;     ///< each in a thread of its own; others wait for their turn
  std::chrono::milliseconds turn = std::chrono::seconds(10);  ///< after which a building projection lets the next go on
  std::size_t gathered_bytes_max =
      64u
      << 20;  ///< of changes in memory, of all that catch up together, before they are written; 0: each page is written
  std::chrono::milliseconds pace{
      1};  ///< at least this long between two pages of the live ones: one write takes what came meanwhile
  /// Which event a checkpoint stands at. Absent: hosts with rows on disk ask the events that they are given.
  EventIdStanding event_id_at{};
  /// Rows that have never caught up are read by nobody who names no position: rows that were lost or
  /// damaged are made anew, and so are those of a projection whose home moves, and a few of them would pass for all.
  bool reads_whole_only = false;
  std::chrono::milliseconds whole_wait_max = std::chrono::seconds(5);  ///< for that
  std::function<void(const Error&)> warn{};  ///< what nobody asked for and is to be known; any thread; may be absent
};

using ProcessorKinds = std::map<std::string, std::shared_ptr<const actors::ProcessorKind>, std::less<>>;

/// Any thread. Owner: the events outlive it.
class ProjectionEngine {
 public:
  ProjectionEngine(EventStore& events, std::shared_ptr<storage::ProjectionStore> rows, ProcessorKinds kinds,
                   EngineOptions options = {});
  /// Stops.
  ~ProjectionEngine();
  ProjectionEngine(const ProjectionEngine&) = delete;

  /// What a definition says now: runs begin, end, pause, go on; rows that nobody needs any more are dropped. The same
  /// one again changes nothing.
  void apply(const actors::Definition& definition);
  /// It is not this process's any more: nothing works on it, nobody reads it. Its rows stay; applied again, it goes on
  /// with them.
  void release(const std::string& name);
  [[nodiscard]] bool hosts(const std::string& name) const;
  /// What was applied and not released, also what was dropped, with its version.
  [[nodiscard]] std::map<std::string, SeqNr, std::less<>> known() const;
  /// Rows of projections that are neither hosted nor to be kept are dropped.
  void drop_others(const std::function<bool(const std::string& name)>& keep = {});
  /// Those that could not be made (a handler was missing) are tried again now.
  void retry();

  struct VersionInfo {
    RunOf of{};
    RunState state = RunState::building;
    std::optional<Error> error{};
    GlobalPosition failed_at{}, position{};
    bool complete = false, serving = false;
    std::uint64_t events = 0, errors = 0;                          ///< handled, met, since it was opened here
    std::optional<std::chrono::milliseconds> busy{};               ///< so long with the events it works on
    std::vector<std::pair<std::string, std::uint64_t>> figures{};  ///< of its rows
  };
  struct Info {
    actors::Definition definition{};
    std::vector<VersionInfo> versions{};  ///< the newest last
  };
  /// Nothing: there is no such projection.
  [[nodiscard]] std::optional<Info> describe(const std::string& name) const;
  [[nodiscard]] std::vector<Info> describe_all() const;

  struct Opened {
    std::shared_ptr<const storage::ProjectionView> rows{};
    GlobalPosition position{};  ///< the rows show every event up to here, perhaps some behind it
    RunOf of{};
    bool complete = false;
  };
  struct Wanted {
    std::optional<GlobalPosition> at_least{};  ///< which it must have passed
    std::chrono::milliseconds timeout = std::chrono::seconds(30);
    std::optional<SeqNr> version{};  ///< absent: the newest that has caught up, else the oldest there is
    bool caught_up = false;          ///< of a version that is named, and that is not what is read: waits until it has
  };
  /// The rows as they are now, or once they have passed a position.
  ///
  /// Errors: not_found (no such projection, no such version), timeout, unavailable (it stopped before that: why;
  /// its rows are made anew, see EngineOptions::reads_whole_only; closed)
  [[nodiscard]] Result<Opened> open(const std::string& name, const Wanted& wanted);

  /// As it is told. Shape: `info` has versions.
  [[nodiscard]] static ProjectionInfo told(Info info, GlobalPosition watermark);

  /// No thread of it runs any more, nothing is written. A handler that does not return is waited for.
  void stop();

 private:
  using Runs = std::vector<std::shared_ptr<ProjectionRun>>;
  struct Hosted {
    actors::Definition definition{};
    Runs runs{};                            ///< oldest rows first
    std::map<std::string, RunOf> unmade{};  ///< by family
    std::map<std::string, Error> why_unmade{};
  };
  struct OwnLane;

  void reconcile(Hosted& hosted);
  /// Rows of a new version begin with what those of before know and events do not tell any more.
  void carry_over(const Hosted& hosted, const RunOf& newest);
  void begin(Hosted& hosted, const RunOf& of);
  void make_unmade();
  void give_back_lanes();
  void end(const std::shared_ptr<ProjectionRun>& run);
  void queue(const std::shared_ptr<ProjectionRun>& run);
  void park(const Runs& runs);
  void wake_parked();
  [[nodiscard]] static std::shared_ptr<ProjectionRun> serving(const Hosted& hosted);
  [[nodiscard]] VersionInfo describe(const ProjectionRun& run, const ProjectionRun* serving) const;
  [[nodiscard]] Info describe(const Hosted& hosted) const;
  void nudge(const std::shared_ptr<ProjectionRun>& run);
  void completed();

  void drive_to_the_end(const std::shared_ptr<ProjectionRun>& run, RunDriver& driver);
  void live();
  void drive_alone(OwnLane& lane);
  void pause_between_pages(std::chrono::steady_clock::time_point began);

  EventStore& events_;
  const std::shared_ptr<storage::ProjectionStore> owned_rows_;  ///< also for readers while the engine is closed
  storage::ProjectionStore& rows_;
  const ProcessorKinds kinds_;
  const EngineOptions options_;
  ProgressBoard board_;
  GatheringRoom room_;

  mutable std::mutex mutex_;  ///< of all below but the drivers' insides; taken before any of theirs
  std::condition_variable changed_;
  std::atomic<bool> stopping_{false};
  std::map<std::string, Hosted, std::less<>> hosted_;
  std::map<std::string, SeqNr, std::less<>> dropped_;  ///< as of then: an older definition does not bring it back
  std::map<std::string, std::weak_ptr<ProjectionRun>> released_;  ///< by family: gone when nobody works on it any more
  std::chrono::steady_clock::time_point make_unmade_at_{};
  std::deque<std::shared_ptr<ProjectionRun>> building_;  ///< wait for their turn
  Runs joining_;                                         ///< go live
  Runs parked_;                                          ///< nobody works on them
  RunDriver live_driver_;
  std::atomic<std::uint32_t> hurried_{0};  ///< somebody waits for a position: no pause between pages
  std::vector<std::unique_ptr<RunDriver>> builders_;
  std::vector<std::unique_ptr<OwnLane>> own_lanes_;
  std::vector<std::thread> threads_;
};

}  // namespace evershard::cluster
