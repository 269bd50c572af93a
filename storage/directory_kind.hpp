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
  begun,       ///< a store or a cut log whose making was broken off: nothing is in it yet
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
/// opening says what is wrong with it. Of a store and a node's part it says `store`.
/// Cost: the database's list of files is read, and no more.
[[nodiscard]] DirectoryKind kind_in(const std::filesystem::path& data_dir);

/// The same, with the identity of the store. Errors: io: it may not be entered; invalid_argument: a newer format
[[nodiscard]] Result<DirectoryContent> content_of(const std::filesystem::path& data_dir);

/// Of a directory that holds nothing, or what nobody can work with. Beside directories of a cluster it names them.
///
/// Errors: not_found, invalid_argument; none of a store, a node's part, a cut log, a backup of the truth
[[nodiscard]] Result<void> refuse_what_is_no_store(const std::filesystem::path& data_dir, DirectoryKind kind);

/// A directory that cannot be looked at does not count as empty. Errors: io: the directory, or one that it lies in, may
/// not be entered
[[nodiscard]] Result<void> check_entry(const std::filesystem::path& data_dir);

/// A copy that was not finished is opened by who makes it, and by nobody else. Errors: invalid_argument
[[nodiscard]] Result<void> refuse_unfinished(const std::filesystem::path& data_dir);

/// What every opening asks first: whether what lies there is a `wanted`, a store (or a node's part of one) or a cut
/// log. Where nothing is, or what was only begun, `create` decides; nothing is made inside of a store, nor beside
/// directories that hold one.
///
/// Returns: whether a database is there.
/// Errors:  not_found; io: as check_entry(); invalid_argument: it is something else, or the wrong place: named
[[nodiscard]] Result<bool> may_be_opened(const std::filesystem::path& data_dir, DirectoryKind wanted, bool create);

/// Of a directory that is to be filled: the nearest one above it that holds a store, part of one or a cut log, or is
/// the database of one. Absent: there is none, as it should be.
[[nodiscard]] std::optional<std::filesystem::path> store_around(const std::filesystem::path& folder);

}  // namespace evershard::storage
