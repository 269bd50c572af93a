// expects: evershard: the process has no logical name
#include "trip.hpp"

struct Broken {
  using State = trip::Left;
  using Reacts = Types<>;
  using Events = Types<>;
};
auto process = make_process<Broken>();
