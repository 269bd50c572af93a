// RunBuilder: a full tail as sorted rows, family by family, in small steps.

#pragma once

#include <memory>
#include <string_view>

#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

class FamilyRows;

/// Gives the rows of one index family in key order. Between two calls the caller may pause as long as it likes.
///
/// Shape: the tail gets no more events. Family `runs` is built from the tail's locations, `directory` from streams
///        whose first event lies in the tail; `ids` has commands' keys too, under the shard of their aggregate.
class RunBuilder {
 public:
  RunBuilder(std::shared_ptr<const TailIndex> tail, Family family);
  ~RunBuilder();
  RunBuilder(const RunBuilder&) = delete;
  RunBuilder& operator=(const RunBuilder&) = delete;

  /// Sorting, in steps of about a millisecond; true: done, rows can be taken.
  bool prepare_step();
  /// False: no more rows. The views hold until the next call.
  bool next(std::string_view& key, std::string_view& value);

 private:
  std::shared_ptr<const TailIndex> tail_;
  std::unique_ptr<FamilyRows> rows_;
};

}  // namespace evershard::storage
