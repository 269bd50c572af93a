// EntityOptions: bounds, time-outs and retries of live aggregates.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace evershard::actors {

struct EntityOptions {
  std::size_t asks_max = 1'024;           ///< of one aggregate, not done with; beyond it: `overloaded`
  std::size_t asks_bytes_max = 8u << 20;  ///< their commands
  std::uint32_t in_flight_max = 512;      ///< appends of one aggregate under way
  std::chrono::milliseconds command_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds journal_timeout =
      std::chrono::seconds(30);        ///< an append or a load that takes longer counts as lost
  std::uint8_t condition_retries = 4;  ///< of a command whose decision model was outdated; then `condition_failed`
  std::uint8_t conflict_retries = 8;   ///< of a command when others append to the aggregate; then `version_conflict`
  std::chrono::milliseconds retry_delay_min =
      std::chrono::milliseconds(10);  ///< of both; full jitter, four times as long each time
  std::chrono::milliseconds retry_delay_max = std::chrono::milliseconds(500);
  std::chrono::milliseconds reload_delay_min = std::chrono::milliseconds(100);  ///< after a lost write or a failed load
  std::chrono::milliseconds reload_delay_max = std::chrono::seconds(10);
  std::uint32_t doubts =
      64;  ///< after a command that was stored already: how many are looked up before they are decided
};

}  // namespace evershard::actors
