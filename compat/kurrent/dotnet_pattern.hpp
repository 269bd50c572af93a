// Patterns of .NET, which KurrentDB's filters are, for RE2: what both read alike stays, what they read otherwise is
// translated, and what RE2 cannot say is refused. Decisions only.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard::kurrent {

/// `\w`, `\d` and `\s` are of Unicode there and of ASCII in RE2, `$` also stands before a last newline there, `[` in a
/// class is itself there, and begins `[:alpha:]` in RE2.
///
/// Whether the rest is a pattern at all, RE2 says. Errors: invalid_argument: which part it cannot say
[[nodiscard]] Result<std::string> re2_pattern_of(std::string_view dotnet);

}  // namespace evershard::kurrent
