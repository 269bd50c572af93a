// What clients expect of a stream, as a version: the same choice in four messages.

#pragma once

#include <cstdint>
#include <limits>

#include "evershard/protocol/version.hpp"

namespace evershard::kurrent {

/// A revision no stream can have is expected in vain.
[[nodiscard]] inline ExpectedVersion at_revision(std::uint64_t revision) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return ExpectedVersion::exactly(revision < most ? revision + 1 : most);
}

/// Shape: Options: of AppendReq, DeleteReq, TombstoneReq. What says nothing expects nothing.
template <class Options>
[[nodiscard]] ExpectedVersion expected_of(const Options& options) {
  if (options.has_revision()) return at_revision(options.revision());
  if (options.has_no_stream()) return ExpectedVersion::none();
  if (options.has_stream_exists()) return ExpectedVersion::exists();
  return ExpectedVersion::any();
}

}  // namespace evershard::kurrent
