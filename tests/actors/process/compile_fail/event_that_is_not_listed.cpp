// expects: evershard: record\(...\): this is not one of the process's Events
// names: ListedEvent<Broken, trip::Said<trip::LeftName> >
#include "trip.hpp"

struct Broken : Trip {
  static Reaction<Broken> on(const State&, const trip::Reserved&) {
    Reaction<Broken> reaction;
    reaction.record(trip::Left{});
    return reaction;
  }
  static Reaction<Broken> on(const State&, const trip::Deadline&) { return ignore(); }
};
auto process = make_process<Broken>();
