// expects: evershard: send<A>\(...\): A takes no such command
#include "trip.hpp"

struct Broken : Trip {
  static Reaction<Broken> on(const State&, const trip::Reserved&) { return react().send<Flight>("1", trip::Left{}); }
  static Reaction<Broken> on(const State&, const trip::Deadline&) { return ignore(); }
};
auto process = make_process<Broken>();
