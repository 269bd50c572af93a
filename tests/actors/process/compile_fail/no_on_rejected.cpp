// expects: evershard: the process has no static Reaction<Process> on_rejected
#include "trip.hpp"

struct Broken : Trip {
  using Sends = Types<trip::Left>;
};
auto process = make_process<Broken>();
