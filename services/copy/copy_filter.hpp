// CopyFilter: which events a copy takes.

#pragma once

#include <set>
#include <string>
#include <string_view>

#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// What matches the query and, where aggregates are named, is an event of one of them. What is no history
/// (is_history()) never, nor that an aggregate was removed: definitions, checkpoints and removals belong to one store.
class CopyFilter {
 public:
  CopyFilter() : query_(Query::all()) {}
  /// No aggregates: all of them. Errors: invalid_query, too_large; invalid_argument: a reserved aggregate
  [[nodiscard]] static Result<CopyFilter> of(Query query, std::set<AggregateId> aggregates);

  /// The query to read by: it matches at least the events that the filter takes.
  [[nodiscard]] Query reads() const;
  [[nodiscard]] bool takes(const RecordedEvent& event) const;
  /// One JSON object: the same for filters that mean the same.
  [[nodiscard]] std::string text() const;
  /// A copy's name where none is given: the same source with the same filter has the same one.
  [[nodiscard]] std::string name_of_copy(std::string_view source_store_id) const;

 private:
  Query query_;
  std::set<AggregateId> aggregates_;
};

}  // namespace evershard::cluster
