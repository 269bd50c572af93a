// expects: evershard: schedule\(...\): what this timer says is not one of the process's Timers
// names: ListedTimer<Broken, trip::Said<trip::LeftName> >
#include "trip.hpp"

struct Broken : Trip {
  static Reaction<Broken> on(const State&, const trip::Reserved&) {
    return react().schedule("late", std::chrono::minutes(1), trip::Left{});
  }
  static Reaction<Broken> on(const State&, const trip::Deadline&) { return ignore(); }
};
auto process = make_process<Broken>();
