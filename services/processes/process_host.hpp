// ProcessHost: the processes that a program runs, each where its home is.

#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/actors/process/process_driver.hpp"
#include "evershard/api/event_store.hpp"

namespace evershard::cluster {

struct ProcessHostOptions {
  /// Whether this aggregate lives here: a process runs where its own one does. Null: all do.
  std::function<bool(const AggregateId&)> lives_here{};
  std::function<void(const Error&)> warn{};
  std::string name{};  ///< of this program, for who looks where a process runs
  std::string fork{};  ///< of the store: KeptPlace
  /// Another number each time events were removed or payloads erased: what was read before is looked at again before an
  /// instance is told it. Quick. Null: never.
  std::function<std::uint64_t()> rewritten{};
};

/// Any thread. Owner: `events`, which takes reserved names, and what `door` gives outlive it.
class ProcessHost {
 public:
  ProcessHost(EventStore& events, std::function<AggregateDoor&()> door, ProcessHostOptions options);
  ~ProcessHost();
  ProcessHost(const ProcessHost&) = delete;

  /// Errors: invalid_argument: it runs already, an option, an effect without a handler; unavailable: stopped
  [[nodiscard]] Result<void> run(std::shared_ptr<const ProcessDefinition> process, ProcessOptions options,
                                 Effects effects);
  [[nodiscard]] std::vector<ProcessStatus> status() const;
  /// Nothing more is sent. What was sent is waited for by the destructor: whoever answers it ends before that.
  /// Idempotent.
  void stop();

 private:
  class Run;

  EventStore& events_;
  const std::function<AggregateDoor&()> door_;
  const ProcessHostOptions options_;
  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace evershard::cluster
