#include "evershard/services/timers/timer_host.hpp"

#include <string>
#include <utility>

namespace evershard::cluster {

TimerHost::TimerHost(EventStore& events, std::function<AggregateDoor&()> door, DueHostOptions options)
    : door_(std::move(door)), host_(events, *this, std::move(options)) {}

actors::TimerFigures TimerHost::figures() const {
  auto figures = host_.locked([this] { return firing_.figures(); });
  figures.damaged = host_.damaged();
  return figures;
}

DueWork::Send TimerHost::fire(const actors::DueTimer& timer, const Result<RecordedEvent>& set, Timestamp now) {
  auto fire = firing_.fire(timer, set, now);
  if (!fire) return nullptr;
  return [this, timer, fire = *std::move(fire)](Told told) {
    door_().ask_bytes(fire.aggregate, std::string(fire_timer_type), fire.command, {.command_id = fire.command_id},
                      [this, timer, told = std::move(told)](const AnyAnswer& answer) {
                        told([&](Timestamp now) { firing_.answered(timer, answer, now); });
                      });
  };
}

}  // namespace evershard::cluster
