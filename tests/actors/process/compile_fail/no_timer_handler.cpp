// expects: evershard: the process has no static Reaction<Process> on\(const State&, const Timer&\)
#include "trip.hpp"

struct Broken : Trip {
  using Timers = Types<trip::Left>;
};
auto process = make_process<Broken>();
