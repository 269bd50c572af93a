#include "evershard/actors/model/effect.hpp"

namespace evershard {

Decided::Decided() = default;
Decided::Decided(Decided&&) noexcept = default;
Decided& Decided::operator=(Decided&&) noexcept = default;
Decided::~Decided() = default;

void Decided::add(GivenEvent event) { events.push_back(std::move(event)); }

void Decided::fail_if(Query query, GlobalPosition after) { conditions.push_back({std::move(query), after}); }

void Decided::schedule(TimerSet timer, Result<std::string> command) {
  if (command)
    timer.payload = std::move(*command);
  else if (!unusable)
    unusable = std::move(command).error();
  timers.set.push_back(std::move(timer));
}

void Decided::cancel(std::string timer) { timers.cancelled.push_back(std::move(timer)); }

void Decided::answer(Result<std::string> bytes) {
  reply = [bytes = std::move(bytes)](const void*) { return bytes; };
}

}  // namespace evershard
