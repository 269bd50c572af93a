// drive: appends of one client thread, so many in flight, for a time; what became of them.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "evershard/api/event_store.hpp"
#include "evershard/bench/report.hpp"

namespace evershard::bench {

struct Outcome {
  std::uint64_t events = 0;
  std::uint64_t appends = 0;
  std::uint64_t done = 0;
  std::uint64_t refused = 0;
  std::uint64_t failed = 0;
  double seconds = 0;
  double cpu = 0;
  Latencies latencies;
};

using MakeAppend = std::function<Append()>;
using OnAnswer = std::function<void(const Result<Appended>&)>;

/// One in flight: blocking appends; more: asynchronous ones. `enough`: asked before each, it may end it earlier.
Outcome drive(EventStore& store, std::uint32_t in_flight, double seconds, const MakeAppend& make,
              const OnAnswer& on_answer = {}, const std::function<bool()>& enough = {});

/// Events a second, with the latencies of appends.
Figure figure_of(std::string name, Outcome& out);

}  // namespace evershard::bench
