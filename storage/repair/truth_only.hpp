// TRUTH_ONLY: the file that tells a backup without indexes from a store.

#pragma once

#include <filesystem>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"

namespace evershard::storage {

inline constexpr const char* truth_only_file = "TRUTH_ONLY";

/// One line of text, for people: which store, up to which position, and what makes a store of it.
///
/// Durable: on return. Errors: io
Result<void> mark_truth_only(const std::filesystem::path& folder, const Identity& identity, GlobalPosition end);

[[nodiscard]] bool is_truth_only(const std::filesystem::path& folder);

/// Errors: invalid_argument: it is a backup of the truth only, to be restored and not to be opened
Result<void> refuse_truth_only(const std::filesystem::path& folder);

}  // namespace evershard::storage
