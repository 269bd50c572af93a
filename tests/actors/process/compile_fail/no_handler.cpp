// expects: evershard: the process has no static Reaction<Process> on\(const State&, const Event&\)
#include "trip.hpp"

struct Broken : Trip {
  using Reacts = Types<trip::Left>;
  static std::string key(const trip::Left&) { return "1"; }
};
auto process = make_process<Broken>();
