// expects: evershard: the process has no `using Reacts
#include "trip.hpp"

struct Broken {
  static constexpr std::string_view type = "trip";
  using State = trip::Left;
  using Events = Types<>;
};
auto process = make_process<Broken>();
