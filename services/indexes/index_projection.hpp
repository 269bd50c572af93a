// Index projections: a query's matches, numbered from 1: (projection, number) -> position.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/read.hpp"
#include "evershard/services/indexes/processor.hpp"

namespace evershard::actors {

/// Shape of the rows: key = chunk (8 bytes, big-endian, from 0), value = the positions of its 128 numbers as varints,
/// each but the first as the difference to the one before. State: how many numbers there are, a varint. Rows that are
/// built anew have, under FF and a chunk, the positions of those before: what has a number keeps it, also where its
/// event was removed since. They go as the new rows pass them. Source: docs/internals/on-disk-format.md, "Projections"
class IndexKind final : public ProcessorKind {
 public:
  static constexpr const char* name = "index";
  /// Of a definition: `{"query":..}`. Name and query belong together: index_name().
  [[nodiscard]] static std::string spec_of(const Query& query);
  [[nodiscard]] static Result<Query> query_of(const std::string& spec);
  [[nodiscard]] Result<std::string> check(const std::string& name, const std::string& spec) const override;
  [[nodiscard]] Result<std::unique_ptr<Processor>> make(const std::string& name,
                                                        const std::string& spec) const override;
  [[nodiscard]] Result<storage::ProjectionChanges> carried(const storage::ProjectionView& before) const override;
};

struct NumberedPosition {
  std::uint64_t number = 0;  ///< from 1
  GlobalPosition position{};
  friend bool operator==(const NumberedPosition&, const NumberedPosition&) = default;
};

struct NumberedPositions {
  std::vector<NumberedPosition> found{};
  std::uint64_t count = 0;  ///< how many numbers the index has
};

/// At most `limit`, from number `start` on (absent: the first, backwards the last). Errors: io, corruption
[[nodiscard]] Result<NumberedPositions> read_numbers(const storage::ProjectionView& rows,
                                                     std::optional<std::uint64_t> start, std::size_t limit,
                                                     Direction direction);

}  // namespace evershard::actors
