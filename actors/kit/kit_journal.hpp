// KitJournal: a store for aggregates in memory, as strict as the real one, that fails when a test says so.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/actors/entity/jitter.hpp"
#include "evershard/actors/kit/kit_fault.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::actors {

/// Ids, versions, chains, conditions over everything, command records, snapshots and what is kept of them.
///
/// Appends stand in a queue, and so do their answers; step() decides the oldest append, or gives an answer. Both can be
/// held, so that a test can look, append or crash in between. Any thread may do anything.
class KitJournal final : public AggregateJournal {
 public:
  struct Options {
    Limits limits{};
    bool queued = true;  ///< false: without step(): an append that is not held is decided and answered within its call
    bool any_order = false;  ///< whether a decision or an answer is next, and which answer, is drawn by the seed;
                             ///< decisions stay in order
    std::uint64_t seed = 0;
    std::function<Timestamp()> now = &Timestamp::now;
  };
  KitJournal() : KitJournal(Options{}) {}
  explicit KitJournal(Options options);

  // -- steering

  /// Decides one append or gives one answer. Returns: whether there was one that is not held.
  bool step();
  /// Of the next append that is decided; called again: of the one after it.
  void fail_next_append(Fault fault, ErrorCode code);
  /// The next call of this kind; called again: the one after it, too.
  void fail_next(JournalCall call, ErrorCode code);
  /// Appends are not decided, until release_appends().
  void hold_appends() { hold(held_appends_, true); }
  void release_appends() { hold(held_appends_, false); }
  /// Appends are decided, and their answers do not come, until release_answers().
  void hold_answers() { hold(held_answers_, true); }
  void release_answers() { hold(held_answers_, false); }
  /// Appends that were not decided are forgotten, answers that were not given never come, what is called is passed over
  /// or refused: whoever used it is gone. Holds and faults end.
  void disconnect();
  void connect();
  /// Somebody else's append, decided now, whatever is held. Errors: as EventStore::append
  Result<Appended> append_now(Append append);
  /// Every snapshot of the aggregate so far cannot be read. Returns: how many there are
  std::size_t damage_snapshots(const AggregateId& aggregate);
  /// Stores it as it is, however wrong.
  void plant_snapshot(RecordedSnapshot snapshot);

  // -- looking

  [[nodiscard]] std::vector<RecordedEvent> events() const;
  [[nodiscard]] std::vector<RecordedEvent> events_of(const AggregateId& aggregate) const;
  /// Newest first; the latest, then the copies that are kept.
  [[nodiscard]] std::vector<RecordedSnapshot> snapshots_of(const AggregateId& aggregate) const;
  /// Appends that were sent and not decided; answers that were not given.
  [[nodiscard]] std::size_t undecided() const;
  [[nodiscard]] std::size_t unanswered() const;

  // -- AggregateJournal

  void append(Append append, AppendChain chain, std::uint64_t loaded_at,
              std::function<void(Result<Appended>)> done) override;
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                                 std::optional<GlobalPosition> up_to) const override;
  [[nodiscard]] Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const override;
  [[nodiscard]] Result<Page> query(const Query& query, const ReadOptions& options) const override;
  [[nodiscard]] Result<std::optional<RecordedCommand>> command(const AggregateId& aggregate,
                                                               std::string_view command_id) const override;
  [[nodiscard]] Result<void> put_snapshot(Snapshot snapshot, std::uint64_t loaded_at = 0) override;
  [[nodiscard]] GlobalPosition watermark() const override;

 private:
  using Done = std::function<void(Result<Appended>)>;
  using Lock = std::unique_lock<std::mutex>;
  struct Sent {
    Append append;
    AppendChain chain;
    Done done;
  };
  struct Answer {
    Done done;
    Result<Appended> result;
  };
  struct Stored {
    RecordedSnapshot snapshot;
    bool damaged = false;
  };
  struct Stream {
    std::vector<std::size_t> events;  ///< in events_
    std::uint64_t last_writer = 0;
    std::optional<Stored> latest;
    std::map<SeqNr, Stored> copies;
  };

  void hold(bool& held, bool now);
  void run_unqueued();
  void decide();
  [[nodiscard]] Result<Appended> write(Append append, AppendChain chain);
  [[nodiscard]] Result<void> refusal(const Append& append, AppendChain chain) const;
  [[nodiscard]] Error conflict(const Expectation& expectation, SeqNr actual, std::string why) const;
  void store(const Snapshot& snapshot, SeqNr version);
  /// Errors: the fault, if one was ordered; unavailable: disconnected
  [[nodiscard]] Result<void> enter(JournalCall call) const;
  [[nodiscard]] const Stream* find(const AggregateId& aggregate) const;
  [[nodiscard]] SeqNr version(const AggregateId& aggregate) const;

  const Options options_;
  mutable std::mutex mutex_;
  bool connected_ = true;
  bool held_appends_ = false;
  bool held_answers_ = false;
  Jitter random_;
  std::deque<Sent> sent_;
  std::deque<Answer> answers_;
  std::deque<std::pair<Fault, ErrorCode>> append_faults_;
  mutable std::multimap<JournalCall, ErrorCode> call_faults_;

  std::vector<RecordedEvent> events_;  ///< by position
  std::map<AggregateId, Stream> streams_;
  std::map<std::pair<AggregateId, std::string>, RecordedCommand> commands_;
  std::map<RequestId, Appended> requests_;
  std::set<EventId> ids_;
};

}  // namespace evershard::actors
