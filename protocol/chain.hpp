// A chain of reactions: how many reactions of processes led to an event, one after the other, since something from
// outside, or a timer, began it. It stands in the event's metadata.

#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace evershard {

inline constexpr std::string_view chain_metadata_begins = "{\"$chain\":";

/// `{"$chain":3}`; 0: nothing.
[[nodiscard]] inline std::string chain_metadata(std::uint32_t chain) {
  if (chain == 0) return {};
  return std::string(chain_metadata_begins) + std::to_string(chain) + "}";
}

/// Of other metadata: 0.
[[nodiscard]] inline std::uint32_t chain_of(std::string_view metadata) {
  if (!metadata.starts_with(chain_metadata_begins) || !metadata.ends_with('}')) return 0;
  metadata.remove_prefix(chain_metadata_begins.size());
  metadata.remove_suffix(1);
  std::uint32_t chain = 0;
  const auto read = std::from_chars(metadata.data(), metadata.data() + metadata.size(), chain);
  return read.ec == std::errc() && read.ptr == metadata.data() + metadata.size() ? chain : 0;
}

}  // namespace evershard
