// RecordFetch: the records of some found events, read together in the order they lie on disk.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/index/event_cache.hpp"
#include "evershard/storage/index/found_event.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

/// `why`, and where the event stands that cannot be read: whoever passes over it has to know.
[[nodiscard]] Refused damaged_at(GlobalPosition position, Error why);

/// What the cache of events has not, by one sorted multi-get a batch. One thread; what it gave out holds until the next
/// fetch().
class RecordFetch {
 public:
  explicit RecordFetch(const Rows& rows) : rows_(rows), cache_(rows.events()) {}

  /// Errors: io; corruption of single records is told by event()
  Result<void> fetch(std::span<const FoundEvent> found);
  /// The i-th of those fetched. Errors: corruption, naming shard and offset
  [[nodiscard]] Result<EventView> event(std::size_t i) const;
  /// Of all that was fetched.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Record {
    ShardId shard;
    ShardOffset first;
    std::uint32_t batch;  // in batches_
    std::uint32_t row;    // in that batch
    std::optional<RecordView> view;
    std::string damage;  // where there is no view
  };
  [[nodiscard]] bool take_batch();
  void take_kept();
  Result<void> get_one_by_one(bool keep);
  void open(Record& record);
  [[nodiscard]] Result<EventView> read(std::size_t i) const;
  void keep_events(std::uint64_t rewrites);

  const Rows& rows_;
  EventCache* const cache_;
  std::span<const FoundEvent> found_;
  EventCache::FoundBatch kept_batch_;    // of all found
  std::vector<EventCache::Found> kept_;  // of each event found, where there is no batch
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> record_of_;
  std::vector<Record> records_;
  std::vector<std::string> keys_;
  std::vector<std::string_view> key_views_;
  std::vector<std::unique_ptr<RowBatch>> batches_;
  std::size_t bytes_ = 0;
  bool whole_ = false;  // the last batch wanted much of each record
};

/// One event's record, read alone.
Result<EventView> fetch_one(RecordFetch& fetch, const FoundEvent& found);

/// What is said of an event that cannot be read.
Refused damaged(ShardId shard, ShardOffset offset, std::string_view what);

}  // namespace evershard::storage
