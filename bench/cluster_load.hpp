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
/// Reads the events of each of the thousand tags once: a process that answers queries has them in memory then.
void read_every_tag(EventStore& store);
/// All events with a tag of a thousand, one query after the other, from a process that has read each tag once. `cpu`:
/// seconds of that process.
[[nodiscard]] Result<Figure> queried(const BenchOptions& options, EventStore& store, std::string name,
                                     const std::function<double()>& cpu);

}  // namespace evershard::bench
