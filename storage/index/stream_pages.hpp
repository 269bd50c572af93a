// Pages of many streams at once: their records are read in the order they lie on disk, each of them once.

#pragma once

#include <span>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/view.hpp"

namespace evershard::storage {

/// Shape: forwards, without a limit.
struct StreamToRead {
  AggregateId aggregate;
  StreamOptions options;
};

struct StreamPage {
  std::vector<RecordedEvent> events;
  bool complete = false;
};

/// Some events of each, in order. A page may be empty though it is not complete: there was no room for it beside the
/// others.
///
/// Errors: of each, as of a cursor: an error is the answer where nothing was read before it
std::vector<Result<StreamPage>> stream_pages(const Rows& rows, const View& view, const sharding::TermHasher& hasher,
                                             std::span<const StreamToRead> streams);

}  // namespace evershard::storage
