// StoreRetention: truncation, removal and time to live, of what one store has: a whole one, or a node's shards.
//
// Source: docs/internals/removal.md.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/retention.hpp"
#include "evershard/services/erasure/subject_keys.hpp"
#include "evershard/services/retention/retention_writer.hpp"
#include "evershard/storage/index/hidden_aggregates.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/journal/record_rewrite.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::cluster {

/// Errors: invalid_argument: no name; the name is the store's own
[[nodiscard]] Result<void> check_removable(const AggregateId& aggregate);

/// What one run of policies did.
struct PoliciesApplied {
  RetentionResult total{};
  std::optional<Error> trouble{};  ///< corruption: everything else was done all the same; else it ended there
};

/// What is ordered stands or falls together (RetentionWriter): the events that say so, what hides it from readers, the
/// snapshots that go. Records are rewritten behind it, batch by batch, and the last step says that it is done; who
/// comes later does what was left.
///
/// Any thread; one at a time, the next one waits. Shape: the caller is inside the node's gate.
class StoreRetention {
 public:
  /// Names of the crash tests, at which a process may die.
  struct Steps {
    static constexpr const char* ordered = "retention.ordered";
    static constexpr const char* rewritten = "retention.rewritten";
    static constexpr const char* done = "retention.done";
  };

  /// Told of each aggregate whose state is not what it was: who has one in memory forgets it. Perhaps several times;
  /// from any thread.
  using Touched = std::function<void(const AggregateId&)>;

  /// `keys`: of the subjects whose payloads are sealed; null: the store was opened without.
  StoreRetention(storage::Store& store, const storage::Reader& reader, RetentionWriter& writer, SubjectKeys* keys,
                 Touched touched, std::function<void(const char*)> at_step);

  Result<RetentionResult> truncate(const AggregateId& aggregate, SeqNr before, const TruncateOptions& options,
                                   const Progress& progress);
  Result<RetentionResult> remove(const AggregateId& aggregate, const RetentionOrder& order, const Progress& progress);
  /// Finishes what was broken off, applies the policies, removes expired snapshots. The record of it is the caller's
  /// (RetentionRecords::run).
  Result<PoliciesApplied> apply(const std::vector<RetentionPolicy>& policies, const RetentionOrder& order,
                                const Progress& progress);
  Result<RetentionResult> erase(const std::string& subject, const RetentionOrder& order, const Progress& progress);
  /// Scheduled appends that were settled longer ago: what was scheduled and what came of it, not what was appended.
  /// What is removed and the record of it are one write, some at a time. Errors: as above
  Result<RetentionResult> remove_settled_schedules(std::chrono::milliseconds keep, const RetentionOrder& order,
                                                   const Progress& progress);

  /// The payloads that are sealed under this key are taken out of the records, and who has its snapshots in memory is
  /// told: a part of an erasure that others order, destroy the key for, and record. Again: does what is left. Errors:
  /// cancelled, corruption, io, unavailable
  Result<storage::RewriteFigures> take_out(const KeyId& key, const RetentionOrder& order, const Progress& progress);

  /// What an earlier one left. Errors: as above
  Result<void> finish(const Progress& progress);
  /// Only what hangs between an event and its rows (RetentionWriter::settle). Errors: unavailable, timeout: something
  /// still does
  Result<void> settle(const Progress& progress);

  /// An event of the aggregate came in that says, elsewhere, that it was removed, and has its place: it is hidden as it
  /// was there, if all before it is gone here too. Again: the same. Errors: corruption, io, overloaded
  Result<void> take_over(const AggregateId& aggregate, const EventId& marker);

  /// Removed, and nothing came since: to those who list or look up aggregates it is not there. Errors: corruption, io
  [[nodiscard]] Result<bool> is_hidden(const storage::View& view, const AggregateId& aggregate,
                                       const storage::StreamHead& head) const {
    return hidden_.hides(view, aggregate, head);
  }

  /// What could not be read and was passed over, by policies and by who finishes what was left: at each run again.
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }

 private:
  struct Pace;
  using Lock = std::unique_lock<std::mutex>;
  /// Errors: as check(RetentionOrder); too_large; cancelled
  Result<Lock> turn(const RetentionOrder& order, const Progress& progress);
  /// `entry`: of the log, first of its operation. Errors: too_large: that, or what follows it there, is more than an
  /// event may be
  Result<void> check_fits(const std::string& entry) const;
  Result<RetentionResult> truncate_in_turn(const AggregateId& aggregate, SeqNr before, const TruncateOptions& options,
                                           Pace& pace);
  /// `only_at`: nothing is done where it is at another version by then.
  Result<RetentionResult> remove_in_turn(const AggregateId& aggregate, std::optional<SeqNr> only_at,
                                         const RetentionOrder& order, Pace& pace);
  /// Removals that are left unfinished: those of damaged aggregates do not go on, all others do.
  struct Unfinished {
    std::vector<std::pair<AggregateId, Error>> aggregates;
    std::optional<Error> first;  ///< of those, or of a row that names none
    [[nodiscard]] Result<void> told() const { return first ? Result<void>(refuse(*first)) : Result<void>(); }
  };
  /// It is told when everything else is done.
  void pass_over(Unfinished& unfinished, Error why) {
    ++damaged_;
    if (!unfinished.first) unfinished.first = std::move(why);
  }
  /// Errors: as above, but for what is damaged
  Result<Unfinished> finish_in_turn(Pace& pace);
  /// And nothing of this aggregate is left.
  Result<void> finish_others_and(const AggregateId& aggregate, Pace& pace);
  Result<void> finish_erasures(Pace& pace);
  Result<storage::RewriteFigures> erase_ordered(const KeyId& key, const std::string& operation, Pace& pace);
  Result<storage::RewriteFigures> take_out_in_turn(const KeyId& key, bool dry_run, Pace& pace);
  Result<void> touch_who_has_snapshots(const KeyId& key, Pace& pace) const;
  /// From where on its records are to be written anew: also those that an earlier removal left, whose row the next one
  /// replaces.
  Result<SeqNr> first_to_go(const AggregateId& aggregate, const std::optional<storage::RemovalRow>& removed) const;
  Result<storage::RewriteFigures> rewrite(const AggregateId& aggregate, const storage::RemovalRow& row, Pace& pace);
  Result<storage::RewriteFigures> would_go(const AggregateId& aggregate, SeqNr from, SeqNr before, Pace& pace) const;
  Result<std::optional<Timestamp>> time_behind(const storage::View& view, GlobalPosition position, Pace& pace) const;
  /// Its last event says that nothing follows any more. Where that cannot be read: no.
  [[nodiscard]] bool has_ended(const storage::View& view, const AggregateId& aggregate, SeqNr version) const;
  Result<RecordedEvent> event_of(const storage::View& view, const AggregateId& aggregate, SeqNr seq_nr) const;
  /// The latest snapshot, if it can be opened: one whose key is not there stands for nothing.
  Result<std::optional<RecordedSnapshot>> standing_snapshot(const AggregateId& aggregate) const;
  Result<std::uint64_t> copies_below(const AggregateId& aggregate, SeqNr below, bool latest) const;
  [[nodiscard]] bool is_ours(const AggregateId& aggregate) const;
  Result<void> apply(const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace, RetentionResult& total,
                     Unfinished& unfinished);
  Result<void> apply_to_events(const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace,
                               RetentionResult& total, Unfinished& unfinished);
  Result<void> apply_to_aggregates(const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace,
                                   RetentionResult& total, Unfinished& unfinished);
  Result<RetentionResult> remove_if_old(const AggregateInfo& info, const storage::View& view,
                                        const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace);
  Result<RetentionResult> truncate_if_old(const AggregateInfo& info, const storage::View& view,
                                          const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace);
  Result<void> expire_snapshots(bool dry_run, Pace& pace, std::uint64_t& gone);
  struct Settled;
  Result<void> add_schedule(const storage::View& view, const RecordedEvent& settled, Settled& batch) const;
  Result<void> remove_settled(Settled& batch, const RetentionOrder& order, Pace& pace, RetentionResult& total);
  void step(const char* name) const {
    if (at_step_) at_step_(name);
  }

  storage::Store& store_;
  const storage::Reader& reader_;
  RetentionWriter& writer_;
  SubjectKeys* const keys_;
  const Touched touched_;
  const std::function<void(const char*)> at_step_;
  const storage::HiddenAggregates hidden_;
  std::atomic<std::uint64_t> damaged_{0};
  std::mutex mutex_;
  /// Under it, what an earlier removal of settled schedules found out: indexes keep what was removed for long.
  GlobalPosition settled_removed_{};  ///< all that was settled up to here, in these shards, is removed
  std::vector<ShardId> settled_shards_{};
};

}  // namespace evershard::cluster
