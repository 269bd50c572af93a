// The numbers of a link, each a type of its own.

#pragma once

#include <chrono>
#include <cstdint>

#include "evershard/protocol/numbers.hpp"

namespace evershard::cluster {

/// Given, never asked for: no class of this folder has a clock.
using LinkTime = std::chrono::steady_clock::time_point;

/// A process of the cluster, by the number its operator gave it; unique, for good. Of two, the higher number dials.
using NodeNumber = Number<struct NodeNumberTag, std::uint32_t>;
/// A connection between two processes, from its greeting to its end; random, never 0.
using SessionNumber = Number<struct SessionNumberTag, std::uint64_t>;
/// A request or message within its session, ascending from 1 in each direction.
using CallNumber = Number<struct CallNumberTag, std::uint64_t>;
/// What the bytes of a request or message are; the link does not know.
using MessageKind = Number<struct MessageKindTag, std::uint16_t>;
/// By what the caller of a request knows its answer.
using CallTicket = Number<struct CallTicketTag, std::uint64_t>;

/// Whole milliseconds, for sentences and the wire.
inline std::chrono::milliseconds in_ms(LinkTime::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time);
}

}  // namespace evershard::cluster
