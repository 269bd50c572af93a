// ScanCursor: everything, in the order's sequence; each shard's journal is read through once.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "evershard/storage/index/event_cursor.hpp"
#include "evershard/storage/index/posting_cursor.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/order/order_lookup.hpp"

namespace evershard::storage {

/// Needs no index. One journal cursor a shard, opened where the scan first comes to it. Of a node's store, its own
/// events.
class ScanCursor final : public EventCursor {
 public:
  /// `whole`: see View.
  ScanCursor(const Rows& rows, const Walk& walk, std::optional<std::uint64_t> limit, bool whole);
  Result<void> visit(std::size_t events_max, std::size_t bytes_max, const RecordedVisitor& visitor) override;
  Result<std::size_t> next_positions(std::size_t events_max, std::vector<GlobalPosition>& out) override;
  [[nodiscard]] bool at_end() const override { return left_ == 0 || positions_ == 0; }

 private:
  struct Journal {
    std::string prefix;
    std::unique_ptr<RowCursor> cursor;
    std::optional<RecordView> record;
  };
  /// Brings the record with this offset under the shard's cursor.
  Result<Journal*> read(ShardId shard, ShardOffset offset);
  Result<void> step();
  Result<void> skip_elsewhere();
  void pass(std::uint64_t positions);

  const Rows& rows_;
  Walk walk_;
  GlobalPosition at_;
  const bool whole_;
  std::uint64_t positions_;  // to go through
  std::uint64_t left_;       // events to give
  bool long_;                // worth reading ahead
  OrderLookup order_;
  sharding::Run run_{};
  RecordedView event_;  // the event that the cursor stands at
  std::unordered_map<ShardId, Journal> journals_;
  Journal* journal_ = nullptr;  // of run_
};

}  // namespace evershard::storage
