// expects: evershard: this event of Reacts cannot be decoded
#include "trip.hpp"

struct Broken : Trip {
  using Reacts = Types<trip::NoCodec>;
  static std::string key(const trip::NoCodec&) { return "1"; }
  static Reaction<Broken> on(const State&, const trip::NoCodec&) { return ignore(); }
  static Reaction<Broken> on(const State&, const trip::Deadline&) { return ignore(); }
};
auto process = make_process<Broken>();
