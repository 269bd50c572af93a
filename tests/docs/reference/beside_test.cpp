// What stands around two versions of a process in docs/processes.md.

#include <evershard/local.hpp>

#include "trips.hpp"

struct Trips2 : Trips {
  static constexpr std::string_view type = "trip2";
};

int main() {
  auto store = evershard::Local::open().value();
  if (!store.host<Flight>() || !store.host<Hotel>()) return 1;
#include "beside.inc"
  return former && later ? 0 : 1;
}
