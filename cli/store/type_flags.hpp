// Type flags: --descriptors, --alias, --state, --as-stored; the same for every command that shows payloads.

#pragma once

#include <string_view>

#include "evershard/api/json/payload_types.hpp"
#include "evershard/cli/command.hpp"

namespace evershard::cli {

/// --alias, --state.
void add_name_flags(Options& options);
/// Those, --descriptors, --as-stored.
void add_type_flags(Options& options);

/// What --alias and --state say. Mistakes are UsageError. Errors: too_large, invalid_argument: names that no store
/// takes
[[nodiscard]] Result<RegisteredTypes> names_of(const Arguments& arguments);
/// A descriptor set's file; - is standard input. Errors: not_found, invalid_argument, too_large, io
[[nodiscard]] Result<RegisteredTypes> descriptors_in(std::string_view file);

/// What a command shows payloads with: what the store has registered, under what its flags say. With --as-stored:
/// nothing.
[[nodiscard]] tl::expected<PayloadTypes, Failure> payload_types(const Invocation& invocation);

}  // namespace evershard::cli
