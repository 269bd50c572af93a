// A flight with any number of seats, and a hotel with one room.

#pragma once

#include <evershard/aggregate.hpp>

#include "trip/trip.pb.h"

struct Flight {
  static constexpr std::string_view type = "flight";
  using State = trip::Places;
  using Commands = evershard::Types<trip::ReserveSeat, trip::CancelSeat>;
  using Events = evershard::Types<trip::SeatReserved, trip::SeatCancelled>;
  static evershard::Effect<> on(const State&, const trip::ReserveSeat& command) {
    trip::SeatReserved reserved;
    reserved.set_trip(command.trip());
    return evershard::persist(reserved);
  }
  static evershard::Effect<> on(const State&, const trip::CancelSeat& command) {
    trip::SeatCancelled cancelled;
    cancelled.set_trip(command.trip());
    return evershard::persist(cancelled);
  }
  static void apply(State& flight, const trip::SeatReserved&) { flight.set_taken(flight.taken() + 1); }
  static void apply(State& flight, const trip::SeatCancelled&) { flight.set_taken(flight.taken() - 1); }
};

struct Hotel {
  static constexpr std::string_view type = "hotel";
  using State = trip::Places;
  using Commands = evershard::Types<trip::ReserveRoom>;
  using Events = evershard::Types<trip::RoomReserved>;
  static evershard::Effect<> on(const State& hotel, const trip::ReserveRoom& command) {
    if (hotel.taken() != 0) return evershard::reject("the hotel is full");
    trip::RoomReserved reserved;
    reserved.set_trip(command.trip());
    return evershard::persist(reserved);
  }
  static void apply(State& hotel, const trip::RoomReserved&) { hotel.set_taken(1); }
};
