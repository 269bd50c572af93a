// Reading RocksDB's memory so that thread sanitizer reports no race of it: copies in its builds, plain views in all
// others.
//
// RocksDB is not built with the sanitizer, which sees its memcpy and memcmp (they are its own) but not the atomics that
// order them: a row that one thread wrote to a memtable and another one reads looks like a race. tests/tsan.supp knows
// it by the writer's frames in RocksDB; but of older accesses the sanitizer may have forgotten the stack, and what is
// left then names our reader alone. So what a thread of ours reads inside of RocksDB is not recorded, and it takes
// copies out of it.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <rocksdb/iterator.h>
#include <rocksdb/slice.h>

#ifdef __SANITIZE_THREAD__
// Source: sanitizer/tsan_interface of libtsan ("dynamic annotations"); no header declares them.
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
#endif

namespace evershard::storage {

#ifdef __SANITIZE_THREAD__

/// While it lives, no access to memory by this thread is recorded. Locks and atomics are.
class RocksReading {
 public:
  RocksReading() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~RocksReading() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
  RocksReading(const RocksReading&) = delete;
};

/// The row an iterator stands on, copied when it is first asked for. Until moved().
class RocksRow {
 public:
  void moved() {
    key_.reset();
    value_.reset();
  }
  std::string_view key(const rocksdb::Iterator& at) {
    if (!key_) key_ = copied(at.key());
    return *key_;
  }
  std::string_view value(const rocksdb::Iterator& at) {
    if (!value_) value_ = copied(at.value());
    return *value_;
  }

 private:
  static std::string copied(const rocksdb::Slice& slice) {
    RocksReading reading;
    return slice.ToString();
  }
  std::optional<std::string> key_, value_;
};

/// A value that lies in a block of RocksDB's becomes one that owns its bytes.
inline void unpin(rocksdb::PinnableSlice& value) {
  if (!value.IsPinned()) return;
  RocksReading reading;
  auto copy = value.ToString();
  value.Reset();
  value.PinSelf(copy);
}

#else

class RocksReading {
 public:
  RocksReading() {}  // not trivial: a scope, no unused variable
};

class RocksRow {
 public:
  static void moved() {}
  static std::string_view key(const rocksdb::Iterator& at) { return at.key().ToStringView(); }
  static std::string_view value(const rocksdb::Iterator& at) { return at.value().ToStringView(); }
};

inline void unpin(rocksdb::PinnableSlice&) {}

#endif

}  // namespace evershard::storage
