// HiddenAggregates: those that were removed and have had no event since: to who lists or looks up aggregates they are
// not there.

#pragma once

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/view.hpp"

namespace evershard::storage {

/// Any thread. Cost: nothing where nothing was ever removed, else a look-up an aggregate; of `$schedule-...` always.
/// Owner: both outlive it.
class HiddenAggregates {
 public:
  HiddenAggregates(const Rows& rows, const Reader& reader);
  /// `head`: as of the moment that is asked about. Errors: corruption, io
  [[nodiscard]] Result<bool> hides(const View& view, const AggregateId& aggregate, const StreamHead& head) const;

 private:
  const Rows& rows_;
  const Reader& reader_;
  const bool any_before_;  ///< something was removed when it was made
};

}  // namespace evershard::storage
