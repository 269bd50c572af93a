#include "evershard/api/per_aggregate.hpp"

#include <atomic>
#include <string>
#include <utility>

namespace evershard {
namespace {

constexpr std::size_t entry_bytes = 128;  ///< of the map, beside the texts
std::atomic<std::size_t> all_bytes = 0;

bool begins_behind(const ReadOptions& options, GlobalPosition position) {
  if (options.direction == Direction::forwards) return position > options.after;
  return !options.before || position < *options.before;
}

std::optional<AggregateId> aggregate_of(const RecordedView& event) {
  if (event.aggregate_type.empty()) return std::nullopt;
  return AggregateId{std::string(event.aggregate_type), std::string(event.aggregate_value)};
}

Result<void> check(const ReadOptions& options) {
  if (!options.per_aggregate_from) return {};
  const auto from = std::to_string(options.per_aggregate_from->value);
  if (!options.per_aggregate)
    return refuse(ErrorCode::invalid_argument, "per_aggregate_from: " + from + " is given without per_aggregate");
  const bool forwards = options.direction == Direction::forwards;
  if (forwards && *options.per_aggregate_from > options.after)
    return refuse(ErrorCode::invalid_argument, "per_aggregate_from: counting behind " + from +
                                                   " begins inside the read, which is of what stands behind " +
                                                   std::to_string(options.after.value));
  if (!forwards && (!options.before || *options.per_aggregate_from < *options.before))
    return refuse(ErrorCode::invalid_argument,
                  "per_aggregate_from: counting before " + from +
                      " begins inside the read, which is of what stands before " +
                      (options.before ? std::to_string(options.before->value) : std::string("the end")));
  return {};
}

/// A read of everything from where counting begins.
ReadOptions wider(ReadOptions options) {
  if (options.per_aggregate_from) {
    if (options.direction == Direction::forwards)
      options.after = *options.per_aggregate_from;
    else
      options.before = *options.per_aggregate_from;
  }
  options.per_aggregate.reset();
  options.per_aggregate_from.reset();
  options.limit.reset();
  return options;
}

class PerAggregatePages final : public PageSource {
 public:
  PerAggregatePages(const ReadOptions& options, std::unique_ptr<PageSource> all)
      : options_(options), quota_(*options.per_aggregate), left_(options.limit), all_(std::move(all)) {}

  Result<VisitedPage> visit(const RecordedVisitor& visitor, PageBudget budget) override {
    if (failed_) return refuse(*failed_);
    std::size_t shown = 0;
    auto page = all_->visit(
        [&](const RecordedView& event) {
          if (failed_ || has_enough()) return;
          auto admitted = quota_.admits(aggregate_of(event));
          if (!admitted) failed_ = std::move(admitted).error();
          if (failed_ || !*admitted || !begins_behind(options_, event.position)) return;
          if (left_) --*left_;
          ++shown;
          visitor(event);
        },
        budget);
    if (!page) return page;
    if (failed_ && shown == 0) return refuse(*failed_);
    page->events = shown;
    page->complete = !failed_ && (page->complete || has_enough());
    return page;
  }
  void cancel() override { all_->cancel(); }

 private:
  [[nodiscard]] bool has_enough() const { return left_ && *left_ == 0; }

  const ReadOptions options_;
  AggregateQuota quota_;
  std::optional<std::uint64_t> left_;
  std::unique_ptr<PageSource> all_;
  std::optional<Error> failed_;  ///< behind what was shown: the next visit tells it
};

}  // namespace

AggregateQuota::~AggregateQuota() { all_bytes -= bytes_; }

Result<bool> AggregateQuota::admits(const std::optional<AggregateId>& aggregate) {
  if (!aggregate) return true;
  const auto found = counts_.find(*aggregate);
  if (found != counts_.end()) {
    if (found->second >= most_) return false;
    ++found->second;
    return true;
  }
  if (most_ == 0) return false;
  const auto bytes = entry_bytes + aggregate->type.size() + aggregate->value.size();
  if (bytes_ + bytes > bytes_max_)
    return refuse(ErrorCode::too_large, "per_aggregate: there are more than " + std::to_string(counts_.size()) +
                                            " aggregates, and counting more takes over " + std::to_string(bytes_max_) +
                                            " bytes; read a part of them, by a query or up to a position");
  if (all_bytes.fetch_add(bytes) + bytes > all_bytes_max) {
    all_bytes -= bytes;
    return refuse(ErrorCode::overloaded, "per_aggregate: too many reads count events of too many aggregates now");
  }
  bytes_ += bytes;
  counts_.emplace(*aggregate, 1);
  return true;
}

EventStream read_by(const ReadOptions& options, const OpenPages& open) {
  if (auto checked = check(options); !checked) return EventStream(std::move(checked).error());
  if (!options.per_aggregate) return EventStream(open(options));
  return EventStream(std::make_unique<PerAggregatePages>(options, open(wider(options))));
}

}  // namespace evershard
