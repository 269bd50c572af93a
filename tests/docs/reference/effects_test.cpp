// What docs/processes.md says of effects, with a mailbox.

#include <cstdlib>
#include <evershard/local.hpp>
#include <evershard/process.hpp>
#include <functional>
#include <string>
#include <utility>

#include "trip_parts.hpp"

struct Mailbox {
  int attempts = 0;
  std::string keys;
  void send(const std::string&, const std::string& key, std::function<void(evershard::Result<trip::Mailed>)> done) {
    keys += key + " ";
    if (++attempts == 1) {
      done(evershard::refuse(evershard::ErrorCode::unavailable, "no stamps"));
      return;
    }
    trip::Mailed mailed;
    mailed.set_receipt("17");
    done(mailed);
  }
};

#include "effects.inc"

int main() {
  Mailbox mailbox;
  auto store = evershard::Local::open().value();
  if (!run_bookings(store, mailbox)) return 1;
  trip::RoomReserved reserved;
  reserved.set_trip("rome");
  if (!store.append(evershard::Append{}.event("hotel-1", "trip.RoomReserved", reserved.SerializeAsString()))) return 1;
  const auto instance = store.get<evershard::ProcessAggregate<Bookings>>("rome");
  while (instance.state()->state.state.how() != "17") {
  }
  const auto half = mailbox.keys.size() / 2;
  return mailbox.attempts == 2 && mailbox.keys.substr(0, half) == mailbox.keys.substr(half) ? 0 : 1;
}
