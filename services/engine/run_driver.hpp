// RunDriver: feeds events to several runs at once: one follow, one write a page.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/services/engine/projection_run.hpp"

namespace evershard::cluster {

/// One thread, but for interrupt(). A run that does not get on (paused, failed, stopped) is put out: it misses nothing,
/// it begins again where its rows are.
class RunDriver {
 public:
  /// `warn`: of events that cannot be read, and are passed over; may be absent.
  RunDriver(EventStore& events, storage::ProjectionStore& rows, std::size_t page_events_max,
            std::function<void(const Error&)> warn = {})
      : events_(events), rows_(rows), page_events_max_(page_events_max), warn_(std::move(warn)) {}

  void add(std::shared_ptr<ProjectionRun> run);
  [[nodiscard]] std::size_t size() const { return runs_.size(); }
  /// The runs that were put out since the last call.
  [[nodiscard]] std::vector<std::shared_ptr<ProjectionRun>> take_out();
  /// All of them, with their checkpoints written where that is needed.
  [[nodiscard]] std::vector<std::shared_ptr<ProjectionRun>> take_all();

  struct Stepped {
    bool caught_up = false;        ///< everything up to the watermark was given
    bool waited = false;           ///< nothing came
    std::optional<Error> error{};  ///< of the events: nothing was given
  };
  /// Waits for one page, at most `timeout`, and gives it to all.
  Stepped step(std::chrono::milliseconds timeout);
  /// A step() under way ends soon, and the next one looks at everything up to the watermark at once. Any thread.
  void interrupt();

 private:
  void open();
  void pass_over(GlobalPosition position, const Error& why);
  void give(const std::vector<RecordedEvent>& events, GlobalPosition upto, bool caught_up);
  void write(storage::ProjectionBatch batch, const std::vector<ProjectionRun*>& of);
  void write_rest(const std::vector<ProjectionRun*>& these);
  void put_out(const std::vector<ProjectionRun*>& these);

  EventStore& events_;
  storage::ProjectionStore& rows_;
  const std::size_t page_events_max_;
  const std::function<void(const Error&)> warn_;
  std::vector<std::shared_ptr<ProjectionRun>> runs_, out_;
  bool caught_up_ = false;  ///< since the follow was opened
  std::mutex mutex_;        ///< of feed_, for interrupt()
  std::optional<EventFeed> feed_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace evershard::cluster
