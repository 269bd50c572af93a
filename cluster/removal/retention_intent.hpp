// RetentionIntent: an append of retention, and the rows that are written when it is known to stand, as a node keeps
// them meanwhile.
//
// Source: docs/internals/on-disk-format.md, "Removals".

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/commit_batch.hpp"
#include "evershard/storage/journal/removal_row.hpp"

namespace evershard::cluster {

/// Among the checkpoints and definitions, which a program that does not know them leaves alone.
using storage::intent_prefix;

struct RetentionIntent {
  Append append{};
  storage::RowWrites rows{};       ///< no records
  std::optional<ShardId> shard{};  ///< whose row log keeps it, and whose writer settles it; absent: this node alone
};

/// Shape: the append has a request id.
[[nodiscard]] std::string intent_key(const Append& append);
[[nodiscard]] std::string encode_intent(const RetentionIntent& intent);
/// Errors: corruption; invalid_argument: a newer program's
[[nodiscard]] Result<RetentionIntent> decode_intent(std::string_view bytes);

}  // namespace evershard::cluster
