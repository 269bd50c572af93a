// Limits: what is accepted by default, and the most that can be configured.

#pragma once

#include <cstddef>
#include <cstdint>

namespace evershard {

/// Fixed for every store: they are part of the format.
inline constexpr std::uint32_t shards_max = 65'535;
inline constexpr std::size_t aggregate_type_bytes_max = 128;
inline constexpr std::size_t aggregate_value_bytes_max = 512;
inline constexpr std::size_t event_type_bytes_max = 255;
inline constexpr std::size_t tag_bytes_max = 255;
inline constexpr std::size_t subject_bytes_max = 255;
inline constexpr std::size_t tags_max = 64;
inline constexpr std::size_t also_max = 64;
inline constexpr std::size_t conditions_max = 16;
inline constexpr std::size_t query_items_max = 1'024;
inline constexpr std::size_t query_terms_max = 4'096;
inline constexpr std::size_t command_id_bytes_max = 255;

/// Of a command that is refused by a rule. Fixed, and no part of the format: it is not stored.
inline constexpr std::size_t rejection_bytes_max = 4'096;

/// Can be raised, up to the value named behind each.
struct Limits {
  std::size_t payload_bytes_max = 1u << 20;    // 8 MiB
  std::size_t metadata_bytes_max = 64u << 10;  // 1 MiB
  std::size_t snapshot_bytes_max = 2u << 20;   // 8 MiB
  std::size_t reply_bytes_max = 64u << 10;     // 1 MiB
  std::size_t append_events_max = 10'000;      // 65,535
  std::size_t append_bytes_max = 4u << 20;     // 16 MiB
  std::size_t page_events_max = 1'000;
  std::size_t page_bytes_max = 1u << 20;
  std::size_t shard_queue_appends_max = 4'096;  // appends waiting per shard, then `overloaded`
  std::size_t shard_queue_bytes_max = 64u << 20;

  /// Every limit at the most it can be set to.
  static constexpr Limits most() {
    Limits most;
    most.payload_bytes_max = 8u << 20;
    most.metadata_bytes_max = 1u << 20;
    most.snapshot_bytes_max = 8u << 20;
    most.reply_bytes_max = 1u << 20;
    most.append_events_max = 65'535;
    most.append_bytes_max = 16u << 20;
    return most;
  }
};

}  // namespace evershard
