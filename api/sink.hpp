// Sink: a projection that writes into a database of the application's, each event's effect once, also when two
// processes think that they are its home.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/api/sink_checkpoint.hpp"

namespace evershard {

/// Where a sink writes: what the application implements. examples/postgres_sink is one. One thread.
class SinkTarget {
 public:
  virtual ~SinkTarget() = default;

  /// Absent: nothing has been written yet. Errors: unavailable, ...
  [[nodiscard]] virtual Result<std::optional<SinkCheckpoint>> checkpoint() = 0;

  /// In one transaction: compares the checkpoint that is there with `expected`, all of it (absent: there is none), and
  /// locks it; writes what the events make; puts `next` in its place.
  ///
  /// Shape:   events in position order, each given once; none: the checkpoint alone moves.
  /// Errors:  fenced       the checkpoint is not the expected one; nothing is written
  ///          timeout      whether it was committed is unknown
  ///          any other    nothing is written; given again by the next step
  /// Durable: on return.
  [[nodiscard]] virtual Result<void> write(std::span<const RecordedEvent> events,
                                           const std::optional<SinkCheckpoint>& expected,
                                           const SinkCheckpoint& next) = 0;
};

struct SinkOptions {
  Query query = Query::all();           ///< what the store keeps for itself (types with `$`) is never given
  std::size_t page_events_max = 1'000;  ///< of one transaction
  std::uint64_t empty_positions_max =
      10'000;  ///< so many positions without a match move the checkpoint, in a transaction of its own
  std::chrono::milliseconds watermark_timeout =
      std::chrono::seconds(30);  ///< how long the store may be behind the sink when it begins
};

/// One writer. A second one with a higher epoch takes the sink over at any time: this one is `fenced` from then on,
/// whatever is under way. One thread. Owner: store and target outlive it.
class Sink {
 public:
  /// Reads the sink's own checkpoint and takes it over. Errors: as sink_taken_over; those of the target. Where it fails
  /// behind the first write, the epoch may be spent: the next attempt needs a higher one
  [[nodiscard]] static Result<Sink> begin(EventStore& store, const SinkWriter& writer, SinkTarget& target,
                                          SinkOptions options = {});

  struct Step {
    std::uint64_t events = 0;              ///< written
    bool caught_up = false;                ///< everything there was has been written
    std::optional<FeedItem::Away> away{};  ///< the store's server is; the sink goes on by itself
  };
  /// Waits for events, at most `timeout`, and has them written. After an error the same events are given again by the
  /// next call, behind a look at whether they were written.
  ///
  /// Errors: fenced, for good; invalid_argument, for good: the store was restored; those of the target, of following
  ///         the store
  [[nodiscard]] Result<Step> step(std::chrono::milliseconds timeout);

  /// As it is in the sink.
  [[nodiscard]] const SinkCheckpoint& checkpoint() const { return *checkpoint_; }

 private:
  struct Pending {
    std::vector<RecordedEvent> events{};
    SinkCheckpoint next{};
    bool tried = false;
  };
  Sink(EventStore& store, SinkTarget& target, SinkOptions options)
      : store_(&store), target_(&target), options_(std::move(options)) {}
  Result<void> write_pending();
  EventId id_at(GlobalPosition position);

  EventStore* store_;
  SinkTarget* target_;
  SinkOptions options_;
  std::optional<SinkCheckpoint> checkpoint_;
  std::optional<Pending> pending_;
  std::optional<EventFeed> feed_;
  std::optional<Error> fenced_;
};

/// An epoch for a process that is nobody's home by other means: the version of `$sink-NAME`, which each call raises by
/// one. Whoever asked last is the writer. Do not mix with epochs of another origin in one sink. Errors: those of append
[[nodiscard]] Result<Epoch> claim_sink(EventStore& store, const std::string& name);

}  // namespace evershard
