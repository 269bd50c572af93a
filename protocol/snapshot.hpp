// Snapshots: an aggregate's state at a version, and what is kept of older ones.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard {

/// A snapshot to be written. With an append it is taken at the version the append leaves; alone, `version` must exist.
struct Snapshot {
  AggregateId aggregate;
  SeqNr version;  ///< alone: required. In an append: 0, or the version the append leaves.
  std::string payload;
  PayloadFormat format = PayloadFormat::unspecified;
  std::uint32_t schema_revision = 0;  ///< a reader that knows another one replays instead

  /// Retained copies beside the latest: absent = off (the latest only, older copies stay as they are), 0 = none,
  /// n = the newest n; the oldest go first.
  std::optional<std::uint32_t> keep;
  /// Hides, and later removes, this retained copy; never the latest.
  std::optional<std::chrono::seconds> ttl;
  std::string subject{};  ///< as of an event

  /// Who writes it says here how many bytes of its rows were written: of a large state that is written again and again
  /// what changed. As it was, where it is written elsewhere; absent: nobody asks.
  std::shared_ptr<std::atomic<std::size_t>> bytes_written{};

  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

/// A snapshot as stored. Its checksum was checked when it was read.
struct RecordedSnapshot {
  AggregateId aggregate;
  SeqNr version;
  GlobalPosition position;  ///< of the event that made the version
  std::string payload;
  PayloadFormat format = PayloadFormat::unspecified;
  std::uint32_t schema_revision = 0;
  Timestamp taken_at;
  std::optional<Timestamp> expires_at;
  bool latest = false;    ///< slot 0
  std::string subject{};  ///< as of an event

  friend bool operator==(const RecordedSnapshot&, const RecordedSnapshot&) = default;
};

}  // namespace evershard
