// View: what one read sees. Runs at or below the mark, tails above it, nothing above the watermark.

#pragma once

#include <memory>
#include <vector>

#include "evershard/protocol/numbers.hpp"

namespace evershard::storage {

class TailIndex;

/// Taken once per read; a seal that finishes meanwhile changes nothing for it. Cheap to copy.
struct View {
  GlobalPosition watermark;
  GlobalPosition mark;  ///< index rows with a position above it are ignored: the tails have them
  std::shared_ptr<const std::vector<std::shared_ptr<const TailIndex>>> tails;  ///< ascending positions, without a gap
  bool whole = true;  ///< every position is an event of this store; of a node of a cluster, some are elsewhere
};

}  // namespace evershard::storage
