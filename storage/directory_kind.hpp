// DirectoryKind: what lies in a data directory, known before anything is opened or said of it.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"

namespace evershard::storage {

enum class DirectoryKind {
  nothing,     ///< no database
  store,       ///< one process's, whole; a whole backup of one is the same
  node,        ///< a node's part of a cluster's store, or a backup of it
  cut_log,     ///< a coordinator's
  truth_only,  ///< a backup without indexes, which is not opened
  unfinished,  ///< a copy that was not finished: its name ends in ".part"
  foreign,     ///< a database that is none of ours
};

/// "a store", "a node's part of a cluster's store", "a coordinator's cut log", ...
[[nodiscard]] const char* name_of(DirectoryKind kind);

struct DirectoryContent {
  DirectoryKind kind = DirectoryKind::nothing;
  /// Of a store, a node, a backup: whose. Absent: it cannot be read.
  std::optional<Identity> identity{};
};

/// Looks, changes nothing, whoever has it open. A database whose families cannot be listed is taken for a store: its
/// opening says what is wrong with it.
///
/// Errors: invalid_argument: a newer format
[[nodiscard]] Result<DirectoryContent> content_of(const std::filesystem::path& data_dir);

/// Of a directory that holds nothing, or what nobody can work with. Beside directories of a cluster it names them.
///
/// Errors: not_found, invalid_argument; none of a store, a node's part, a cut log, a backup of the truth
[[nodiscard]] Result<void> refuse_what_is_no_store(const std::filesystem::path& data_dir, DirectoryKind kind);

}  // namespace evershard::storage
