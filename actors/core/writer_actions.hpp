// WriterActions: what the shard writers want done.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "evershard/actors/core/attempt.hpp"
#include "evershard/actors/core/written.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/reports.hpp"
#include "evershard/storage/journal/journal_batch.hpp"

namespace evershard::actors {

/// One write and one sync. Keeps what it borrows.
struct WriterBatch {
  storage::JournalBatch journal;
  std::vector<std::shared_ptr<Written>> written;  ///< as in journal.appends
  std::size_t events = 0;
  std::size_t bytes = 0;
};

/// What one cut does to the shards of this node, in its sequence.
struct CutEffects {
  CutNumber number;
  GlobalPosition watermark;  ///< after it
  std::vector<ShardId> own;  ///< whose segments of it are this node's (rule 12), for sharding::cut_of_node
  std::vector<std::shared_ptr<const Written>>
      covered;  ///< placed (see Written::position) or refused; `recovered`: what was found at opening
};

struct WriterReport {
  sharding::Report report;
  std::uint64_t ask = 0;     ///< a report without appends: comes back with the number of the cut promised
  std::uint64_t naming = 0;  ///< of the cluster's processes, as they were known when replicas counted; 0: not said
};

struct LookUp {
  std::shared_ptr<Attempt> attempt;
  bool confirm = false;        ///< run every condition as a query, and look for its ids on all nodes
  GlobalPosition window_from;  ///< else those whose `from` lies before it
  /// Not 0: the append was placed here, and only its versions on other nodes are wanted. It is found by its place, not
  /// by its ids.
  GlobalPosition placed_at{};
};

struct PartRequest {
  std::shared_ptr<const Attempt> of;
  PartAsked part;
};

struct PartReply {
  std::uint64_t client = 0;  ///< Attempt::client of the part
  PartAnswer answer;
};

struct WriterAnswer {
  std::uint64_t client = 0;
  Result<Appended> result;  ///< acknowledged as durable: without positions
  struct Durable {
    ShardId shard;
    ShardOffset offset;  ///< of the last event
  };
  std::optional<Durable> durable{};  ///< not ordered yet
};

/// Shape: done in the order of the members: what a cut does is applied to the store before anything is looked up or
/// answered.
struct WriterActions {
  std::vector<CutEffects> cuts;
  std::vector<WriterReport> reports;  ///< to the coordinator
  std::vector<LookUp> look_ups;       ///< then ShardWriters::looked_up
  std::vector<PartRequest> parts;     ///< to the shard's owner; then ShardWriters::part_answered, exactly once each
  std::vector<PartReply> part_replies;
  std::vector<WriterAnswer> answers;            ///< one a client
  std::vector<std::pair<ShardId, Error>> lost;  ///< shards that have lost data: to be said loudly
};

}  // namespace evershard::actors
