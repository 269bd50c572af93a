// store_from_truth: a store, or a backup of the truth only, made from another store's truth.

#pragma once

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/progress.hpp"
#include "evershard/storage/repair/store_copy.hpp"
#include "evershard/storage/repair/truth_source.hpp"

namespace rocksdb {
class Env;
}

namespace evershard::storage {

struct TruthToKeep {
  GlobalPosition end;   ///< from TruthSource::end_of_copy()
  bool indexes = true;  ///< made anew; without them the copy is marked as a backup of the truth only
  rocksdb::Env* env = nullptr;
  std::function<void(const AggregateId& aggregate)> without_state{};  ///< as TruthCopyOptions
  std::function<void(const std::string&)> left_out{};  ///< told of each snapshot that is; absent: `corruption`
};

/// Copies, makes the indexes, verifies, settles. What is left to do is StoreCopy::finish().
///
/// Errors: cancelled, corruption, io
Result<void> store_from_truth(const TruthSource& source, const TruthToKeep& what, StoreCopy& copy,
                              const Progress& progress);

/// The same behind the copying: the truth of that store lies in the copy's database. Errors: as above
Result<void> store_of_copied_truth(const Identity& source, const TruthToKeep& what, StoreCopy& copy,
                                   const Progress& progress);

}  // namespace evershard::storage
