// Query: which events, by type, tag and aggregate concerned.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// Types are OR, tags are AND, concerned aggregates are AND; all three together are AND. An empty part asks nothing,
/// an item of three empty parts is invalid.
struct QueryItem {
  std::vector<std::string> types;
  std::vector<Tag> tags;
  std::vector<AggregateId> concerning;  ///< the event's own aggregate, or one of its `also`

  friend bool operator==(const QueryItem&, const QueryItem&) = default;
};

/// Items are OR. A query made from no items is invalid_query, never "nothing"; everything is all().
/// Repetitions are harmless; case matters everywhere.
class Query {
 public:
  Query() = default;
  static Query all();
  static Query of(std::vector<QueryItem> items);

  /// Builder: each of these goes into the last item (the first call starts one); or_() starts the next.
  Query& types(std::vector<std::string> types) &;
  Query& tags(std::vector<Tag> tags) &;
  Query& concerning(std::vector<AggregateId> aggregates) &;
  Query& or_() &;
  Query&& types(std::vector<std::string> t) && { return std::move(types(std::move(t))); }
  Query&& tags(std::vector<Tag> t) && { return std::move(tags(std::move(t))); }
  Query&& concerning(std::vector<AggregateId> a) && { return std::move(concerning(std::move(a))); }
  Query&& or_() && { return std::move(or_()); }

  [[nodiscard]] bool is_all() const { return all_; }
  [[nodiscard]] const std::vector<QueryItem>& items() const { return items_; }

  /// Sorted and without repetitions, in items and parts: equal queries become equal values.
  [[nodiscard]] Query canonical() const;
  /// Errors: invalid_query (no items, an empty item, all() with items, an empty or malformed string),
  ///         too_large (1,024 items, 4,096 terms, each counted once; a string over its limit)
  [[nodiscard]] Result<void> check() const;

  /// The definition every index is measured by.
  [[nodiscard]] bool matches(std::string_view type, std::span<const Tag> tags, const AggregateId* aggregate,
                             std::span<const AggregateId> also) const;
  [[nodiscard]] bool matches(const RecordedEvent& event) const;
  [[nodiscard]] bool matches(const RecordedView& event) const;

  friend bool operator==(const Query&, const Query&) = default;

 private:
  QueryItem& last_item();

  bool all_ = false;
  std::vector<QueryItem> items_;
};

}  // namespace evershard
