// UmaAppend: what UmaDB's clients append, as an append of ours, and what is still to be decided about it.

#pragma once

#include <optional>
#include <vector>

#include "evershard/doors/umadb/words/uma_event.hpp"
#include "evershard/doors/umadb/words/uma_query.hpp"
#include "evershard/protocol/append.hpp"

namespace evershard::umadb {

struct UmaAppend {
  Append append{};                   ///< with the client's condition, and not yet with that of its tracking info
  std::vector<EventId> given_ids{};  ///< of the events, where each came with one
  std::optional<UmaQuery> condition{};
  GlobalPosition after{};
  std::optional<Tracking> tracking{};

  /// Shape:  `request` is taken apart.
  /// Errors: invalid_argument; too_large: a condition over all bounds
  [[nodiscard]] static Result<UmaAppend> of(::umadb::v1::AppendRequest& request);

  /// The append, on the condition that nobody tracks the source further in the meantime. `newest`: the newest event of
  /// the source, and how far it says that the source has come.
  /// Errors: condition_failed: it is not further than that
  [[nodiscard]] Result<Append> tracked_after(
      const std::optional<std::pair<GlobalPosition, std::uint64_t>>& newest) const;
  /// Whether an append was refused because somebody tracked the source in the meantime: then it is decided anew.
  [[nodiscard]] bool tracked_meanwhile(const Error& error) const;
};

}  // namespace evershard::umadb
