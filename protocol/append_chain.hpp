// AppendChain: which appends to an aggregate were decided on top of each other.

#pragma once

#include <cstdint>

namespace evershard {

/// Who is ahead of the store sends an append before he knows whether the one before it was written. Were that one
/// refused because somebody else's events took its place, the version the next one expects could hold by chance, over a
/// history its decision never saw. The aggregate is the append's only one.
struct AppendChain {
  std::uint64_t writer = 0;  ///< 0: none. One incarnation of an entity: random, never used over another history
  bool follows = false;      ///< version_conflict unless the last append to the aggregate was one of this writer's
};

}  // namespace evershard
