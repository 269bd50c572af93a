// expects: evershard: perform\(...\): the process's Effects list no evershard::Performs of this effect
// names: ListedEffect<Broken, trip::Said<trip::LeftName> >
#include "trip.hpp"

struct Broken : Trip {
  static Reaction<Broken> on(const State&, const trip::Reserved&) { return react().end().perform(trip::Left{}); }
  static Reaction<Broken> on(const State&, const trip::Deadline&) { return ignore(); }
};
auto process = make_process<Broken>();
