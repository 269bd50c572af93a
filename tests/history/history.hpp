// History: what clients asked of a store and were told, and whether all of it can be true of the log that is there at
// the end.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/read.hpp"

namespace evershard::testing {

/// Drawn from one counter of the whole test: what ended at a smaller moment than another thing began at was over before
/// it.
using Moment = std::uint64_t;

/// One request, with all its tries. Shape: it has a request id; its payloads are like no other request's.
struct HistoryAppend {
  Append append;
  Moment began = 0;  ///< before its first try
  Moment ended = 0;  ///< after its last answer; of an unknown outcome: never
  int tries = 1;
  std::optional<Appended> acknowledged{};  ///< as ordered
  std::optional<Error>
      refused{};  ///< by the store: version_conflict, condition_failed. With neither of both: nobody knows
};

/// One read of a query, forwards, to its end or to `up_to`.
struct HistoryRead {
  Query query = Query::all();
  ReadOptions options{};
  Moment began = 0;
  Moment ended = 0;
  GlobalPosition watermark;  ///< what the store says that it is bounded by
  std::vector<RecordedEvent> events{};
};

/// One subscription, from `after` to where it was ended.
struct HistoryFollow {
  Query query = Query::all();
  GlobalPosition after;
  GlobalPosition watermark;  ///< the last one it told
  std::vector<RecordedEvent> events{};
};

struct History {
  std::vector<HistoryAppend> appends;
  std::vector<HistoryRead> reads;
  std::vector<HistoryFollow> follows;
  std::set<std::string> others{};  ///< types of aggregates: what is appended to those is not looked at, nor removed
};

/// What cannot be, one sentence each, with the values; none: the log explains everything that was seen. `log`: all
/// events, read at the end.
///
/// Checked: positions are 1, 2, 3 (I-Dense); each event is of a request, once, whole and together (I-Once, I-Atomic,
/// I-Together); what was acknowledged stands where it was said, with the versions said (I-Durable); versions and
/// conditions hold where an append stands (I-Version, I-Condition); an append that began after another was acknowledged
/// stands behind it (I-RealTime); a refusal has its witness, from before it ended and not undone before it began, and
/// nothing of it is there (I-Honest); a read is what matches up to its watermark, not less than it asked for
/// (I-NoSkip); so is a subscription. Knows nothing of how the store does it.
[[nodiscard]] std::vector<std::string> faults_of(const History& history, const std::vector<RecordedEvent>& log);

}  // namespace evershard::testing
