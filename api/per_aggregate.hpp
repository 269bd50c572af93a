// Of a read's matches at most so many of each aggregate.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "evershard/api/event_stream.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// Counts the events of each aggregate, in the order in which they are met.
class AggregateQuota {
 public:
  static constexpr std::size_t bytes_max = 64u << 20;  ///< of one read's counts: several hundred thousand aggregates
  static constexpr std::size_t all_bytes_max = 256u << 20;  ///< of all reads of the process

  explicit AggregateQuota(std::uint64_t most, std::size_t bytes_at_most = bytes_max)
      : most_(most), bytes_max_(bytes_at_most) {}
  ~AggregateQuota();
  AggregateQuota(const AggregateQuota&) = delete;
  AggregateQuota& operator=(const AggregateQuota&) = delete;

  /// Whether an event is still among the first so many of its aggregate. An event without an aggregate always is.
  /// Errors: too_large: there are more aggregates than one read may count; overloaded: than all reads may
  [[nodiscard]] Result<bool> admits(const std::optional<AggregateId>& aggregate);

 private:
  const std::uint64_t most_;
  const std::size_t bytes_max_;
  std::unordered_map<AggregateId, std::uint64_t> counts_;
  std::size_t bytes_ = 0;
};

/// What reads by options without `per_aggregate`.
using OpenPages = std::function<std::unique_ptr<PageSource>(const ReadOptions& options)>;

/// The read that the options say. Where they have `per_aggregate`, a wider one is opened, and counted and bounded here:
/// a page may then be empty and not complete.
/// Errors (the stream's): invalid_argument: counting would begin inside the read, or there is nothing to count
[[nodiscard]] EventStream read_by(const ReadOptions& options, const OpenPages& open);

}  // namespace evershard
