// Version: which program this is, from which commit, with which libraries.

#pragma once

#include <string_view>

namespace evershard::cli {

/// 0.1.0
[[nodiscard]] std::string_view version_number();
/// Of the tree that was built, with `-dirty` where it had changes; `unknown`: it was no clone.
/// Source: cmake/EvershardCommit.cmake writes it at every build.
[[nodiscard]] std::string_view build_commit();

}  // namespace evershard::cli
