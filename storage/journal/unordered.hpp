// Unordered: what is durable on a node and no cut covers yet, shard by shard, ready for the tail.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "evershard/sharding/cut.hpp"
#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/waiting_row.hpp"

namespace evershard::storage {

/// Owner: the thread that stages.
class Unordered {
 public:
  /// What one batch's entries point into.
  struct Bytes {
    std::vector<sharding::Term> terms;
    std::string texts;
  };
  /// A placed event: what its entry points into lives as long as it does.
  struct Placed {
    TailEvent event;
    std::shared_ptr<const Bytes> bytes;
  };
  struct Waiting {
    ShardOffset first;
    WaitingRow row;
  };

  explicit Unordered(std::size_t shards) : shards_(shards) {}

  /// Shape: in order of offset, shard by shard; the event's spans are copied.
  void add(const TailEvent& event);
  /// Shape: before its events are taken.
  void add(ShardId shard, ShardOffset first, WaitingRow row) {
    shards_.at(shard.value).waiting.push_back({first, std::move(row)});
  }
  /// The entries added since the last call have their memory together.
  void end_batch() { bytes_.reset(); }

  /// Takes out what a segment covers: the events that have a place, in order, to `placed`, without their position.
  ///
  /// Shape: the segment goes on where the last one of its shard ended, and all of it is here: checked.
  void take(const sharding::Segment& segment, std::vector<Placed>& placed);
  /// Takes out the rows of appends before `end`.
  [[nodiscard]] std::vector<Waiting> take_waiting(ShardId shard, ShardOffset end);
  /// Gives up everything of a shard from this offset on. Returns: the first offsets of its records, and of its waiting
  /// appends.
  struct GivenUp {
    std::vector<ShardOffset> records;
    std::vector<ShardOffset> waiting;
  };
  GivenUp give_up(ShardId shard, ShardOffset from = ShardOffset{0});
  [[nodiscard]] std::size_t events() const { return events_; }

 private:
  struct Entry {
    EventLocation location;
    EventId id;
    EventId command;
    EventId request;
    SeqNr seq_nr;
    sharding::Term stream = 0;
    std::uint32_t terms_begin = 0;
    std::uint32_t terms_end = 0;
    std::uint32_t text_begin = 0;
    std::uint32_t text_end = 0;
    std::shared_ptr<const Bytes> bytes;
  };
  struct Shard {
    std::deque<Entry> entries;
    std::deque<Waiting> waiting;
  };
  std::vector<Shard> shards_;
  std::shared_ptr<Bytes> bytes_;  ///< of the batch being added
  std::size_t events_ = 0;
};

}  // namespace evershard::storage
