// gzip, in one piece, and never larger than one is willing to hold.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard::serving {

/// The fastest level: for what is read once. Source: RFC 1952
[[nodiscard]] std::string gzip(std::string_view bytes);

/// No message of ours begins so: field 3 with a wire type there is not.
[[nodiscard]] inline bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

/// How long it says that it is unpacked: what the memory for it is taken by, before anything is unpacked.
/// Errors: invalid_argument (it cannot be so long), too_large
[[nodiscard]] Result<std::size_t> unpacked_bytes(std::string_view packed, std::size_t bytes_max);
/// Fills all of `into`, which is as long as it said. Errors: invalid_argument: it is not, is damaged, or is followed by
/// something
[[nodiscard]] Result<void> unpack(std::string_view packed, std::span<char> into);

}  // namespace evershard::serving
