// Sealing: payloads that have a subject go to the store sealed, and come back opened, or erased.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/snapshot.hpp"
#include "evershard/services/erasure/subject_keys.hpp"

namespace evershard::cluster {

/// What sealing it is going to need; nothing for what is going to be refused.
[[nodiscard]] KeysWanted keys_wanted(const Append& append);

/// Any thread.
class Sealing {
 public:
  explicit Sealing(std::shared_ptr<SubjectKeys> keys) : keys_(std::move(keys)) {}

  /// What has a subject is sealed; the subject is left out then: the store never sees it.
  /// `made_at`: erasures() before what it was made of was read.
  /// Errors: invalid_argument: a subject is no name, its payload none that can be stored, or a payload without subject
  ///         looks sealed and nothing here opens it; too_large; io, corruption: its key cannot be had;
  ///         version_conflict: a key was destroyed since `made_at`: it may be made of what is erased
  [[nodiscard]] Result<void> seal(Append& append, std::optional<std::uint64_t> made_at = {}) const;
  [[nodiscard]] Result<void> seal(Snapshot& snapshot, std::optional<std::uint64_t> made_at = {}) const;
  /// The same without waiting for the process that has the keys. False: sealing would have to wait, and nothing was
  /// sealed. Errors: as above
  [[nodiscard]] Result<bool> seal_at_once(Append& append, std::optional<std::uint64_t> made_at = {}) const;

  [[nodiscard]] std::uint64_t erasures() const { return keys_->erasures(); }
  /// As SubjectKeys::watch_erasures().
  void watch_erasures(std::function<void()> watch) const { keys_->watch_erasures(std::move(watch)); }

  /// What was sealed here is as it was given, with its subject; `erased`, and without its payload, where the key was
  /// destroyed. A payload that was not sealed here stays as it is. Errors: corruption: the key is lost, or the payload
  /// is damaged; unavailable: there are no keys here just now; io
  [[nodiscard]] Result<void> open(RecordedEvent& event) const;
  [[nodiscard]] Result<void> open(std::vector<RecordedEvent>& events) const;
  /// The keys that opening these needs, asked for at once where they lie elsewhere.
  void fetch_keys(const std::vector<RecordedEvent>& events) const;
  /// Whether open() would change the event, or fail.
  [[nodiscard]] static bool is_sealed(const RecordedView& event);
  /// As open(), of an event as it lies there, without waiting for the process that has the keys. `to` shows it opened,
  /// and holds as long as `event` and `plain` do. False: nothing was done; open() waits, or says what is wrong.
  [[nodiscard]] bool open_at_hand(const RecordedView& event, RecordedView& to, PlainPayload& plain) const;
  /// False: its key was destroyed, it is as if it were not there.
  [[nodiscard]] Result<bool> open(RecordedSnapshot& snapshot) const;

 private:
  const std::shared_ptr<SubjectKeys> keys_;
};

}  // namespace evershard::cluster
