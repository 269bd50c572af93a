// KitFault: the ways in which a journal can fail that matter to whoever sent something to it.

#pragma once

#include <cstdint>

namespace evershard {

/// What becomes of an append.
enum class Fault : std::uint8_t {
  refused,                 ///< nothing is written, and the answer says why: the code decides what that means
  lost_written,            ///< it is written, and the answer is an error all the same: `timeout`, `io` or `unavailable`
  lost_not_written,        ///< it is not written; nobody who waits can tell it from lost_written
  unanswered_written,      ///< it is written, and no answer ever comes
  unanswered_not_written,  ///< it is not written, and no answer ever comes
};

/// What is asked of a journal beside appends.
enum class JournalCall : std::uint8_t {
  snapshot,      ///< the newest one, when an aggregate is loaded
  stream,        ///< a page of an aggregate's events
  query,         ///< a page of a decision model's events
  command,       ///< whether a command id is stored, and its reply
  put_snapshot,  ///< a snapshot alone, as on demand
};

}  // namespace evershard
