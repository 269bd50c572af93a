#include "trip.hpp"

auto process = make_process<Trip>();
