// LastCommitMark: the file MARK, which remembers outside RocksDB how far acknowledged commits went.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::storage {

/// Written after each synced commit and never synced itself: it may lag behind what is durable, never run ahead. A
/// store that recovers less than it says has lost something (RocksDB opens a log with a damaged middle without a word).
///
/// Shape:  two slots of 32 bytes, at 0 and 512, written in turn: "EVMK", version, cut number, watermark, XXH64 of
/// these. Source: docs/internals/on-disk-format.md, "The folder".
class LastCommitMark {
 public:
  struct Value {
    CutNumber cut;
    GlobalPosition watermark;
    friend bool operator==(const Value&, const Value&) = default;
  };

  /// The newer of the valid slots; absent: no such file, or no valid slot. Errors: io
  static Result<std::optional<Value>> read(const std::filesystem::path& path);

  /// Opens for writing; creates it, durably, where it is missing. Errors: io
  static Result<std::unique_ptr<LastCommitMark>> open(const std::filesystem::path& path);
  ~LastCommitMark();
  LastCommitMark(const LastCommitMark&) = delete;

  /// Cost: one write of 32 bytes into the page cache. A failure only makes the mark older: counted, not reported.
  void update(const Value& value);
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 private:
  explicit LastCommitMark(int file) : file_(file) {}
  int file_;
  std::uint64_t writes_ = 0;
  std::uint64_t failures_ = 0;
};

}  // namespace evershard::storage
