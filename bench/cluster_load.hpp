// What the parts of the benchmark that run over doors have in common: events to begin with, and queries.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "evershard/bench/parts.hpp"

namespace evershard::bench {

/// Appends of 64 events of one aggregate each, from every client.
[[nodiscard]] Result<void> load_events(const BenchOptions& options, const std::vector<EventStore*>& stores,
                                       std::uint64_t events);
/// All events with a tag of a thousand, one query after the other. `cpu`: seconds of the process that is asked.
[[nodiscard]] Result<Figure> queried(const BenchOptions& options, EventStore& store, std::string name,
                                     const std::function<double()>& cpu);

}  // namespace evershard::bench
