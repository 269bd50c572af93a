// What tells one state from an earlier one: stretches that both have, and bytes that only the later one has.
//
// Source: docs/internals/on-disk-format.md, "A snapshot in two rows".

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard::storage {

/// Returns: no more than `bytes_max`; nothing where that does not suffice, or hardly.
///
/// Cost: about a millisecond a MiB of `base`; of `state`, where little is new.
[[nodiscard]] std::optional<std::string> state_difference(std::string_view base, std::string_view state,
                                                          std::size_t bytes_max);

/// The state that the difference was made for, where `base` is the one that it was made from: who calls it compares
/// checksums. Whatever the bytes, the state is no longer than `bytes_max`.
/// Errors: corruption
[[nodiscard]] Result<std::string> state_from_difference(std::string_view base, std::string_view difference,
                                                        std::size_t bytes_max);

}  // namespace evershard::storage
