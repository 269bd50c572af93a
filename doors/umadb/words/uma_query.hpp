// UmaQuery: what UmaDB's clients ask for, as queries of ours.

#pragma once

#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/umadb/umadb.pb.h"

namespace evershard::umadb {

/// No items is everything, and so is an item that asks nothing. What no event of ours can have (an empty type, a tag of
/// 300 bytes) is looked for in vain, and no error. Their queries have no bounds: a long one is several of ours, any of
/// which may match.
class UmaQuery {
 public:
  static UmaQuery all();
  static UmaQuery of(const ::umadb::v1::Query& query);

  /// Empty: nothing matches.
  [[nodiscard]] const std::vector<Query>& parts() const { return parts_; }

  /// For a read, which has one query. Nothing matches: everything, and a limit of 0 goes with it: `is_nothing`.
  /// Errors: too_large
  [[nodiscard]] Result<Query> one() const;
  [[nodiscard]] bool is_nothing() const { return parts_.empty(); }

  /// Adds a condition for each part. Errors: too_large: then there were more than `most`
  [[nodiscard]] Result<void> forbid(GlobalPosition after, std::size_t most,
                                    std::vector<AppendCondition>& conditions) const;

 private:
  std::vector<Query> parts_;
};

}  // namespace evershard::umadb
