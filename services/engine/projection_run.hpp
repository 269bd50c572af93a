// ProjectionRun: one version of a projection at work: its rows, how far they are, what stopped it.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evershard/protocol/kept_place.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/services/indexes/processor.hpp"
#include "evershard/services/rows/projection_store.hpp"

namespace evershard::cluster {

/// Who waits for a run to get on.
class ProgressBoard {
 public:
  void moved();
  /// Until `enough` holds, looked at after every move. False: the time was up.
  [[nodiscard]] bool wait(std::chrono::steady_clock::time_point until, const std::function<bool()>& enough);

 private:
  std::atomic<std::uint32_t> waiting_{0};
  std::mutex mutex_;
  std::condition_variable moved_;
};

/// Memory for changes that runs gather before they write them, of all of them together. Any thread.
class GatheringRoom {
 public:
  /// Shape: bytes; 0: nothing is gathered.
  explicit GatheringRoom(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  /// Who had `before` of it has `now`, also where that is more than there is. Returns: whether there is room for more
  bool change(std::size_t before, std::size_t now) { return used_.fetch_add(now - before) + now - before < bytes_max_; }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> used_{0};
};

enum class RunState : std::uint8_t {
  building,  ///< catching up for the first time, or again
  live,      ///< it has caught up and follows
  paused,    ///< asked for
  failed,    ///< its work refused an event: it stands there until somebody does something
  waiting,   ///< it cannot be run just now (no handler, no disk): tried again
};
[[nodiscard]] const char* name_of(RunState state);

struct RunOf {
  std::string name{}, kind{}, spec{};
  SeqNr version{}, rows{};
  [[nodiscard]] std::string family() const;
};
/// Of a family's name: version and rows. Nothing: it is none of `name`'s.
[[nodiscard]] std::optional<std::pair<SeqNr, SeqNr>> parse_family(const std::string& family, const std::string& name);

/// One thread at a time works on it; asking is for any.
///
/// While it is building, the changes of many pages are gathered and written at once: a row that changes in each of them
/// is looked up and written once. What is gathered is lost with the process: it begins again where its rows are.
class ProjectionRun {
 public:
  /// Shape: `event_id_at` may be absent: then checkpoints do not name their events.
  ProjectionRun(storage::ProjectionStore& rows, ProgressBoard& board, GatheringRoom& room, RunOf of,
                std::unique_ptr<actors::Processor> processor, EventIdStanding event_id_at = {});
  ~ProjectionRun();

  [[nodiscard]] const RunOf& of() const { return of_; }
  [[nodiscard]] const std::string& family() const { return family_; }
  [[nodiscard]] const actors::Processor& processor() const { return *processor_; }
  /// Every event up to here has had its effect, and the effect is in the rows.
  [[nodiscard]] GlobalPosition position() const { return GlobalPosition{position_.load()}; }
  [[nodiscard]] bool complete() const { return complete_.load(); }
  [[nodiscard]] std::uint64_t events() const { return events_.load(); }
  [[nodiscard]] std::uint64_t errors() const { return errors_.load(); }
  /// When it was given the events it is still working on; nothing: it is not working.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> busy_since() const;
  struct Status {
    RunState state = RunState::building;
    std::optional<Error> error{};
    GlobalPosition failed_at{};  ///< the event it is about; 0: none
  };
  [[nodiscard]] Status status() const;

  // What is wanted of it; whoever works on it notices at the next page.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  void pause(bool paused) { pause_wanted_ = paused; }
  [[nodiscard]] bool pause_wanted() const { return pause_wanted_; }
  /// Whether somebody should work on it now.
  [[nodiscard]] bool fit() const;
  /// When a run that waits is to be tried again.
  [[nodiscard]] std::chrono::steady_clock::time_point retry_at() const;
  /// It is worked on again: what stopped it is forgotten. Not while somebody works on it.
  void revive();

  // Of the one who works on it.
  /// Begins with what is in the store. Errors: not_found (dropped), io, corruption
  [[nodiscard]] Result<void> load();
  /// The last event of the page that is given next, whoever wants it: a checkpoint there need not ask for its id.
  void saw(const RecordedEvent& event) { last_event_ = {event.position, event.id}; }
  /// Up to where it has been given events: at position(), or behind it where changes are gathered. The next ones are
  /// those behind it.
  [[nodiscard]] GlobalPosition given() const { return given_; }
  /// The effect of the events up to `upto` that match its query. Nothing: there is nothing to write, now; else it is to
  /// be written, then written() is called, or not_written().
  [[nodiscard]] std::optional<storage::ProjectionChanges> work(std::span<const RecordedEvent* const> events,
                                                               GlobalPosition upto, bool caught_up);
  void written();
  void not_written(Error error);
  /// What is known and not in the store yet: changes that were gathered, or that nothing matched for a while. As with
  /// work().
  [[nodiscard]] std::optional<storage::ProjectionChanges> unwritten();
  void mark(RunState state, std::optional<Error> error = {}, GlobalPosition failed_at = {});
  /// An event that cannot be read has no effect here. It goes on.
  void passed_over(Error why, GlobalPosition position);
  /// It has caught up. Returns: how many events it was given since it was live last
  std::uint64_t mark_live();

 private:
  Result<void> handle(std::span<const RecordedEvent* const> events, actors::ProjectionRows& rows);
  void work_one_by_one(std::span<const RecordedEvent* const> events);
  void publish(GlobalPosition position);
  [[nodiscard]] bool has_unwritten() const;
  [[nodiscard]] bool goes_on_gathering(bool caught_up);
  void let_go();
  void begin_anew();
  [[nodiscard]] EventId event_at(GlobalPosition position) const;
  storage::ProjectionChanges with_checkpoint(storage::ProjectionChanges changes, GlobalPosition upto,
                                             std::string state);

  storage::ProjectionStore& rows_;
  ProgressBoard& board_;
  GatheringRoom& room_;
  const RunOf of_;
  const std::string family_;
  const std::unique_ptr<actors::Processor> processor_;
  const EventIdStanding event_id_at_;

  std::atomic<std::uint64_t> position_{0}, events_{0}, errors_{0};
  std::atomic<std::int64_t> busy_since_{0};
  std::atomic<bool> complete_{false}, stopped_{false}, pause_wanted_{false};
  mutable std::mutex mutex_;
  Status status_;
  std::chrono::steady_clock::time_point retry_at_{};

  storage::ProjectionCheckpoint durable_;  ///< as it is in the store
  storage::ProjectionCheckpoint pending_;  ///< as it is being written
  std::uint64_t pending_events_ = 0;
  std::optional<actors::ProjectionRows> gathered_;  ///< what the events behind position() changed, up to given_:
                                                    ///< `pending_events_` of them; once written, empty
  std::size_t gathered_bytes_ = 0;                  ///< of the room, until they are written
  bool caught_up_ = false;                          ///< complete, once that is written with all that was gathered
  GlobalPosition given_{};
  std::pair<GlobalPosition, EventId> last_event_{};  ///< that was seen
  GlobalPosition page_by_page_until_{};  ///< before it is an event that cannot be handled: each page is written
  std::uint64_t events_when_live_ = 0;
  std::chrono::steady_clock::time_point checkpoint_at_{};
};

}  // namespace evershard::cluster
