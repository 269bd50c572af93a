// expects: evershard: Effects of a process lists evershard::Performs<Effect, Answer>
#include "trip.hpp"

struct Broken : Trip {
  using Effects = Types<trip::Mail>;
};
auto process = make_process<Broken>();
