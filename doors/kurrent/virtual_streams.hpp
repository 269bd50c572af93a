// Streams that are derived: `$ce-CATEGORY`, `$et-TYPE`. Which revision is where, in a table that grows as it is asked.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"

namespace evershard::kurrent {

/// The place of every thousandth match. Revisions count matches in order of position, from 0. A plain class.
class MatchTable {
 public:
  static constexpr std::uint64_t marked_every = 1'000;

  struct Mark {
    std::uint64_t revision = 0;  ///< of the first match behind `after`
    GlobalPosition after{};
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  /// Shape: positions ascend.
  void add(GlobalPosition match);
  /// Everything up to here was looked at.
  void looked_at(GlobalPosition position);
  /// Where to begin to read for this revision: behind the last mark at or in front of it.
  [[nodiscard]] Mark before(std::uint64_t revision) const;
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] GlobalPosition scanned() const { return scanned_; }

 private:
  std::vector<GlobalPosition> marks_;  ///< of matches 0, 1000, 2000, ...
  std::uint64_t count_ = 0;
  GlobalPosition scanned_{};
};

/// What a derived stream is made of.
struct Derived {
  enum class Of : std::uint8_t { category, event_type };
  Of of = Of::category;
  std::string value{};

  /// Absent: the name is none of a derived stream.
  [[nodiscard]] static std::optional<Derived> from(std::string_view stream);
  /// What has to be read for it: by the index of types, or everything.
  [[nodiscard]] Query query() const;
  [[nodiscard]] bool takes(const RecordedEvent& event) const;
};

/// The tables of those that were read. Any thread.
class VirtualStreams {
 public:
  struct Table {
    std::mutex mutex{};
    MatchTable matches{};
  };
  [[nodiscard]] std::shared_ptr<Table> table_of(const std::string& stream);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Table>> tables_;
};

}  // namespace evershard::kurrent
