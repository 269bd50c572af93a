// Files and folders that survive loss of power.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard::storage {

/// Durable: a file's bytes, or which files a folder has. Errors: io
[[nodiscard]] Result<void> sync_path(const std::filesystem::path& path);

/// The folder in which a file was made, renamed or removed. A folder that may not be opened, or a file system that
/// cannot sync one, is no fault of the file's. Errors: io
[[nodiscard]] Result<void> sync_folder_of(const std::filesystem::path& path);

/// All bytes, whatever a call takes of them, then synced. `flags`: of open(), beside O_WRONLY and O_CLOEXEC.
/// Errors: io
[[nodiscard]] Result<void> write_synced(const std::filesystem::path& path, int flags, mode_t mode,
                                        std::string_view bytes);

}  // namespace evershard::storage
