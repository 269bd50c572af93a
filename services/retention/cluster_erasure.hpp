// ClusterErasure: a subject is erased on a cluster: ordered in the log, its key destroyed at the coordinator, then its
// ciphertext taken out by every node.
//
// Source: docs/erasure.md, "Keys of a cluster".

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/api/retention.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/services/erasure/subject_keys.hpp"

namespace evershard::cluster {

/// What is under way stands in the log: an order without its end. Whoever comes next, on whatever node, does it again
/// from its beginning: each step changes nothing where it was done.
///
/// Any thread; on one node one at a time. Owner: the log's events outlive it.
class ClusterErasure {
 public:
  /// What is sealed with the key is taken out of the records of all shards. Errors: unavailable: not of all of them,
  /// and more
  using TakeOut =
      std::function<Result<RetentionResult>(const KeyId& key, const RetentionOrder& order, const Progress& progress)>;

  /// `limits`: of the log's events
  ClusterErasure(EventStore& log, const Limits& limits, std::shared_ptr<SubjectKeys> keys, TakeOut take_out,
                 std::function<void(const char*)> at_step)
      : log_(log),
        limits_(limits),
        keys_(std::move(keys)),
        take_out_(std::move(take_out)),
        at_step_(std::move(at_step)) {}

  /// Errors: as HistoryRetention::erase_subject; too_large: its entries are more than an event may be, nothing was
  /// done; unavailable: the coordinator, or a shard's node, is away: what was ordered is finished by the next one
  [[nodiscard]] Result<RetentionResult> erase(const std::string& subject, const RetentionOrder& order,
                                              const Progress& progress);
  /// What was broken off, on whatever node; nothing, where the coordinator has no keys. Errors: as above
  [[nodiscard]] Result<void> finish(const Progress& progress);

 private:
  struct Left {
    std::string operation;
    KeyId key;
  };
  [[nodiscard]] Result<std::vector<Left>> left();
  [[nodiscard]] Result<RetentionResult> erase_ordered(const Left& ordered, const RetentionOrder& order,
                                                      const Progress& progress);
  /// Its key is destroyed.
  [[nodiscard]] Result<RetentionResult> take_out_ordered(const Left& ordered, const RetentionOrder& order,
                                                         const Progress& progress);
  /// All that can be. Errors: the first one's
  [[nodiscard]] Result<void> finish_in_turn(const Progress& progress);
  void step(const char* name) const {
    if (at_step_) at_step_(name);
  }

  EventStore& log_;
  const Limits limits_;
  const std::shared_ptr<SubjectKeys> keys_;
  const TakeOut take_out_;
  const std::function<void(const char*)> at_step_;
  std::mutex mutex_;
  SeqNr settled_{0};  ///< of the log: no erasure up to here is unfinished
};

}  // namespace evershard::cluster
