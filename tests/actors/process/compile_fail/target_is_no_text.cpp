// expects: evershard: Effects::on<E, R>\(handler, options, target\): std::string target\(const E&\)
#include "trip.hpp"

const auto handler = [](const trip::Mail&, const EffectAttempt&, const std::function<void(Result<Done>)>&) {};
auto effects =
    Effects{}.on<trip::Mail>(handler, {.at_a_time_per_target = 1}, [](const trip::Mail& mail) { return &mail; });
