// MemoryOnly: a read that may not wait for the disk, for threads that have others to serve.

#pragma once

namespace evershard::storage {

/// While it lives, this thread's reads take what memory has. Where a file would have to be read they end with an error
/// instead, `unavailable`, and missed() says so: the same read is to be done once more by a thread that may wait.
///
/// Cursors that were opened meanwhile stay so: they are not kept. They do not nest.
class MemoryOnly {
 public:
  MemoryOnly() { current_ = this; }
  ~MemoryOnly() { current_ = nullptr; }
  MemoryOnly(const MemoryOnly&) = delete;

  /// The thread's; nullptr: it may wait.
  [[nodiscard]] static MemoryOnly* current() { return current_; }
  void miss() { missed_ = true; }
  [[nodiscard]] bool missed() const { return missed_; }

 private:
  static inline thread_local MemoryOnly* current_ = nullptr;
  bool missed_ = false;
};

}  // namespace evershard::storage
