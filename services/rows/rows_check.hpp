// Looks at the rows of projections or documents of a store that is not open.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

/// Whether the database of rows in `folder` opens, every block of every family can be read, and every checkpoint. Rows
/// are not compared with the events. Nobody has it open meanwhile; changes nothing. A folder that is missing or empty
/// is whole: rows are made when the store is opened.
///
/// Returns: what is wrong, a sentence each. Errors: io (the disk), cancelled
[[nodiscard]] Result<std::vector<std::string>> check_rows(const std::filesystem::path& folder,
                                                          const Progress& progress = {});

}  // namespace evershard::storage
