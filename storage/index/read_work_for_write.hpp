// ReadWorkForWrite: what reading may cost that a thread does for somebody's write.

#pragma once

#include "evershard/storage/index/read_work.hpp"

namespace evershard::storage {

/// The reading is a piece of `work` by itself, however long the write takes beside it. Owner: the thread; the work
/// outlives it.
class ReadWorkForWrite {
 public:
  explicit ReadWorkForWrite(ReadWork& work);
  ~ReadWorkForWrite();
  ReadWorkForWrite(const ReadWorkForWrite&) = delete;

  /// Of the thread; nullptr: nobody said.
  [[nodiscard]] static ReadWork* current();

 private:
  ReadWork* const before_;
};

}  // namespace evershard::storage
