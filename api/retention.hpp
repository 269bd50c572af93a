// Retention: what an operator has removed from a store's history, and the record of it.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/administration.hpp"
#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

/// Who orders a removal, why, and how it is done.
struct RetentionOrder {
  static constexpr std::size_t text_bytes_max = 1'024;  ///< of each: every entry of the log has them

  std::string by{};                    ///< kept in the log
  std::string reason{};                ///< the same
  bool dry_run = false;                ///< says what would go, changes nothing, records nothing
  std::uint64_t bytes_per_second = 0;  ///< of records rewritten; 0: as fast as it goes
};

struct TruncateOptions : RetentionOrder {
  bool uncovered =
      false;  ///< also where no snapshot stands for what goes: the aggregate's state cannot be made any more
};

/// Before anything is done. Errors: invalid_argument: a text is too long
[[nodiscard]] Result<void> check(const RetentionOrder& order);

/// What a removal did, or would do in a dry run.
struct RetentionResult {
  std::string operation{};       ///< its name in the log; empty: nothing was to be done, or a dry run
  std::uint64_t aggregates = 0;  ///< truncated or removed
  std::uint64_t events = 0;      ///< that are gone now and were not before
  std::uint64_t snapshots = 0;   ///< that are gone
  std::uint64_t records = 0;     ///< of the journal, written again
  std::uint64_t bytes_before = 0, bytes_after = 0;  ///< of those; the disk has them back after a vacuum

  // Of one aggregate.
  SeqNr version{0};                    ///< the aggregate's; it goes on from there
  SeqNr before{0};                     ///< its events below are gone
  std::optional<SeqNr> covered_by{};   ///< the version of the snapshot that stands for them
  std::uint32_t covered_revision = 0;  ///< that snapshot's schema revision: who knows another one cannot use it

  friend bool operator==(const RetentionResult&, const RetentionResult&) = default;
};

/// Time to live, by a rule that is kept as a definition: `$policy-NAME`.
struct RetentionPolicy {
  enum class Kind : std::uint8_t {
    events = 1,  ///< events of a type, one by one; those of aggregates where a snapshot stands for them
    truncate,    ///< of aggregates of a type: events that a snapshot stands for
    remove,      ///< aggregates of a type, as a whole, when their last event is as old
  };
  std::string name{};
  Kind kind{};
  std::string type{};  ///< of events, or of aggregates
  std::chrono::seconds keep{};
  bool uncovered = false;  ///< of `events`: also where no snapshot stands for them

  friend bool operator==(const RetentionPolicy&, const RetentionPolicy&) = default;
};
[[nodiscard]] std::string_view name_of(RetentionPolicy::Kind kind);
[[nodiscard]] std::optional<RetentionPolicy::Kind> policy_kind_of(std::string_view name);

/// One step, as the log has it.
struct RetentionEntry {
  GlobalPosition position;
  SeqNr number;  ///< in the log, from 1
  Timestamp at;
  std::string what{};  ///< the event's type: $TruncationOrdered, $RemovalOrdered, $RemovalDone, ...
  std::string json{};  ///< docs/removal.md

  friend bool operator==(const RetentionEntry&, const RetentionEntry&) = default;
};

/// From any thread, while everything else goes on; one operation at a time, the next one waits. What was interrupted,
/// or broken off by a crash, is complete to every reader all the same, and its records are rewritten by the next
/// truncation, removal or run, or by vacuum.
///
/// Errors of all: invalid_argument (who wants it, or why, is longer than RetentionOrder::text_bytes_max); too_large
///                (the log's entry would be more than an event's payload may be: nothing is done); unavailable (closed,
///                the disk is full; in a cluster: a shard has no node just now), timeout (in a cluster: what became of
///                it is not known; the same again tells), cancelled (by progress), corruption, io
class HistoryRetention {
 public:
  virtual ~HistoryRetention() = default;

  /// An aggregate's events below `before` are removed; its version stays, the next append continues.
  ///
  /// Errors: not_found (no such aggregate); invalid_argument (`before` is below 2 or beyond its next event; no snapshot
  ///         stands for what goes, and `uncovered` is not set; its name is reserved)
  [[nodiscard]] virtual Result<RetentionResult> truncate_aggregate(const AggregateId& aggregate, SeqNr before,
                                                                   TruncateOptions options, Progress progress = {}) = 0;
  /// All of an aggregate's events and snapshots are removed. It is hidden until its next event; its versions go on.
  ///
  /// Errors: not_found (no such aggregate); invalid_argument (its name is reserved)
  [[nodiscard]] virtual Result<RetentionResult> remove_aggregate(const AggregateId& aggregate, RetentionOrder order,
                                                                 Progress progress = {}) = 0;

  /// The subject's key is destroyed: nobody reads its payloads any more, in backups neither; then they are taken out of
  /// the records. Events that it gives again are sealed under a new key.
  ///
  /// Errors: not_found (it has no key: nothing was sealed for it, or it is erased already); invalid_argument (the store
  /// has no keys; no name)
  [[nodiscard]] virtual Result<RetentionResult> erase_subject(const std::string& subject, RetentionOrder order,
                                                              Progress progress = {}) = 0;

  /// Creates or replaces. Errors: invalid_argument
  [[nodiscard]] virtual Result<void> set_retention_policy(const RetentionPolicy& policy, RetentionOrder order) = 0;
  /// Errors: not_found
  [[nodiscard]] virtual Result<void> drop_retention_policy(const std::string& name, RetentionOrder order) = 0;
  [[nodiscard]] virtual Result<std::vector<RetentionPolicy>> retention_policies() = 0;
  /// Finishes what was broken off, applies all policies as of now, removes expired snapshots. A dry run says at most
  /// how many snapshots.
  [[nodiscard]] virtual Result<RetentionResult> apply_retention(RetentionOrder order, Progress progress = {}) = 0;

  /// What was done, in order, behind `after`.
  [[nodiscard]] virtual Result<std::vector<RetentionEntry>> retention_log(SeqNr after, std::size_t limit) = 0;
};

}  // namespace evershard
