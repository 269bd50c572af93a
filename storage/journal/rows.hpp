// Rows: sorted key-value rows by family, whoever keeps them. What readers of journal, order and indexes stand on.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard::storage {

/// Source: docs/internals/on-disk-format.md. Keys and values: keys.hpp, records.hpp, chunks.hpp.
enum class Family : std::uint8_t { journal, order, state, streams, postings, ids, directory, runs };
inline constexpr std::size_t family_count = 8;
std::string_view name_of(Family family);
/// Derived from journal and order: dropped and rebuilt at will (I-Derived). Written by ingestion only.
constexpr bool is_index(Family family) { return family >= Family::streams; }

/// Walks the rows of one family in key order. One thread at a time; sees every row that was there when it was opened.
class RowCursor {
 public:
  virtual ~RowCursor() = default;
  virtual void seek(std::string_view key) = 0;           ///< first row at or after
  virtual void seek_for_prev(std::string_view key) = 0;  ///< last row at or before
  virtual void next() = 0;
  virtual void prev() = 0;
  [[nodiscard]] virtual bool valid() const = 0;            ///< false at the end, and on error: see status()
  [[nodiscard]] virtual std::string_view key() const = 0;  ///< until the next move
  [[nodiscard]] virtual std::string_view value() const = 0;
  /// Errors: corruption, io
  [[nodiscard]] virtual Result<void> status() const = 0;
};

/// The values of some keys, kept alive as long as this.
class RowBatch {
 public:
  virtual ~RowBatch() = default;
  [[nodiscard]] virtual bool found(std::size_t i) const = 0;
  [[nodiscard]] virtual std::string_view value(std::size_t i) const = 0;
};

struct CursorOptions {
  /// All rows looked at begin with these bytes: filters may skip files that have none. Empty: no such promise.
  std::string_view prefix{};
  /// Of a family whose filters are of prefixes: after each seek only rows are looked at that begin as the key sought
  /// does, and filters may skip files. One cursor looks into many such stretches.
  bool many_prefixes = false;
  /// A long scan: leaves the cache to others.
  bool scan = false;
};

class EventCache;
class RemovalMask;

/// Any number of readers, beside one writer.
class Rows {
 public:
  virtual ~Rows() = default;
  [[nodiscard]] virtual std::unique_ptr<RowCursor> cursor(Family family, CursorOptions options = {}) const = 0;
  /// Shape: keys ascend. `keep`: their blocks may take the place of others in the cache. Errors: corruption, io
  [[nodiscard]] virtual Result<std::unique_ptr<RowBatch>> get(Family family, std::span<const std::string_view> keys,
                                                              bool keep = true) const = 0;
  /// What readers of events are to take for removed. Absent: rows are looked at as they are.
  [[nodiscard]] virtual const RemovalMask* mask() const { return nullptr; }
  /// Where readers keep single events. Absent: nowhere.
  [[nodiscard]] virtual EventCache* events() const { return nullptr; }
};

}  // namespace evershard::storage
