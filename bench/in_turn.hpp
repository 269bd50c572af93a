// in_turn: what is compared is measured in the same minutes, in rounds, so that a machine's moods fall on both sides.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "evershard/bench/report.hpp"
#include "evershard/bench/run.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::bench {

/// What a contestant is held against.
struct Held {
  std::size_t against = 0;  ///< an earlier contestant
  double least = 0;         ///< the ratio's target; 0: none
  double most = 0;          ///< the ratio's upper bound; 0: none
};

struct Contestant {
  std::function<Result<Figure>()> measure;
  std::vector<Held> held{};
};

/// Measures all of them in turn, `options.rounds` times.
///
/// Returns: each one's figure of its median round, with its comparisons. Errors: those of the
///          measurements, cancelled
Result<std::vector<Figure>> in_turn(const BenchOptions& options, const std::vector<Contestant>& contestants);

/// The same, added to the report in order.
Result<void> report_in_turn(const BenchOptions& options, Report& report, const std::vector<Contestant>& contestants);

}  // namespace evershard::bench
