// ShardLog: what a writer has put into the journal of one shard and no cut covers, in offset order.

#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/actors/core/written.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/reports.hpp"

namespace evershard::actors {

class ShardLog {
 public:
  /// `ordered`: the first offset no applied cut covers.
  explicit ShardLog(ShardOffset ordered) : ordered_(ordered), durable_(ordered), end_(ordered), reported_(ordered) {}

  [[nodiscard]] ShardOffset ordered() const { return ordered_; }
  [[nodiscard]] ShardOffset durable() const { return durable_; }
  [[nodiscard]] ShardOffset end() const { return end_; }
  [[nodiscard]] bool empty() const { return written_.empty(); }
  /// What no applied cut covers, in offset order.
  [[nodiscard]] const std::deque<std::shared_ptr<Written>>& written() const { return written_; }

  /// At the next offsets, which are never used again (rule 17).
  void write(const std::shared_ptr<Written>& written);
  /// What a store found, in offset order. Shape: it joins on, whole appends.
  void recover(const std::shared_ptr<Written>& written);
  /// `written`, and every append before it, is on disk.
  void synced(Written& written);

  struct Reporting {
    bool digests_wanted = false;
    bool builds = false;  ///< the coordinator knows of appends that build on others: else they are to be refused
    std::size_t events_max = 0;
  };
  /// What is durable and was not reported (rule 9): whole appends, until there are so many events; the rest with the
  /// next call. Terms where they are wanted, and of what is tentative.
  [[nodiscard]] std::optional<sharding::Report> report(ShardId shard, Epoch epoch, const sharding::TermHasher& hasher,
                                                       const Reporting& how);
  /// The next report begins here again, or at what cuts cover.
  void report_from(ShardOffset first);

  /// A segment of a cut: gives positions from `next` on to what it covers and was not refused; what is covered whole
  /// goes to `covered`. Returns: what is wrong, if the cut covers what is not here: the shard has lost data.
  [[nodiscard]] std::optional<std::string> cover(const sharding::Segment& segment, GlobalPosition& next,
                                                 std::vector<std::shared_ptr<Written>>& covered);

  /// The shard is another's now. Returns: what was here.
  std::deque<std::shared_ptr<Written>> drop();

 private:
  std::deque<std::shared_ptr<Written>> written_;  ///< from ordered_ to end_
  ShardOffset ordered_;                           ///< cuts cover everything before it
  ShardOffset durable_;
  ShardOffset end_;
  ShardOffset reported_;
};

}  // namespace evershard::actors
