// expects: evershard: the process has no static std::string key\(const Event&\)
#include "trip.hpp"

struct Broken : Trip {
  using Reacts = Types<trip::Reserved, trip::Left>;
  static Reaction<Broken> on(const State&, const trip::Reserved&) { return ignore(); }
  static Reaction<Broken> on(const State&, const trip::Left&) { return ignore(); }
  static Reaction<Broken> on(const State&, const trip::Deadline&) { return ignore(); }
};
auto process = make_process<Broken>();
