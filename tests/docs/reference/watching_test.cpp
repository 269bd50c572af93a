// What stands around following a state in docs/aggregates.md.

#include <evershard/aggregate.hpp>
#include <evershard/local.hpp>
#include <evershard/state_feed.hpp>
#include <iostream>

#include "room/room.pb.h"

#include "seats.hpp"

using namespace std::chrono_literals;

namespace {

std::string seen;
void show(const room::SeatState& seat, evershard::SeqNr version) {
  seen += "v" + std::to_string(version.value) + (seat.by().empty() ? " free; " : " " + seat.by() + "; ");
}
bool watched_enough() { return seen.find("v1") != std::string::npos; }

}  // namespace

int main() {
  auto opened = evershard::Local::open();
  auto& store = *opened;
  if (!store.host<Seat>()) return 1;
  room::Take take;
  take.set_room("12");
  take.set_by("ann");
  auto answer = store.get<Seat>("12-a").ask_future(take);
#include "watching.inc"
  if (!answer.get()) return 1;
  return seen.ends_with("v1 ann; ") ? 0 : 1;
}
