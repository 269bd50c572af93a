// StoreCopy: a copy of a store while it is being made: in "<target>.part", until it is whole and gets its name.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/files/synced.hpp"

namespace rocksdb {
class Env;
}

namespace evershard::storage {

/// A copy that is given up deletes the files that it made.
class StoreCopy {
 public:
  /// Makes the folder; a rest of an earlier try is replaced. Errors: invalid_argument (the target holds something), io
  static Result<StoreCopy> begin(std::filesystem::path path);
  ~StoreCopy();
  StoreCopy(StoreCopy&& from) noexcept : target_(std::move(from.target_)), part_(std::exchange(from.part_, {})) {}
  StoreCopy& operator=(StoreCopy&&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return part_; }
  [[nodiscard]] std::filesystem::path database() const { return part_ / "db"; }
  /// The folder in it for what a copy is made of; whoever fills it takes it away before finish().
  static constexpr const char* parts = "parts";
  /// The file that tells a backup from a store.
  static constexpr const char* backup_mark = "BACKUP";

  /// What lies beside the source's database and is no part of it (TYPES), as it is. Errors: io
  Result<void> carry_from(const std::filesystem::path& source_folder) const;
  /// The same, of a source that lies elsewhere: what is in its TYPES; empty: it has none. Errors: io
  Result<void> carry(std::string_view types) const;
  /// Errors: io
  Result<void> mark_as_backup() const;
  /// Makes a store of the database that lies there: a fork of its own, and MARK. `env`: for tests.
  ///
  /// Returns: where it ends. Errors: corruption, io
  Result<GlobalPosition> settle(rocksdb::Env* env = nullptr);
  /// Durable: on return. Errors: invalid_argument (something came into the target meanwhile), io
  Result<void> finish();

 private:
  StoreCopy(std::filesystem::path target, std::filesystem::path part)
      : target_(std::move(target)), part_(std::move(part)) {}
  std::filesystem::path target_;
  std::filesystem::path part_;
};

/// Where a copy is to lie, absolute: a folder that is empty, or not there yet. Errors: invalid_argument
Result<std::filesystem::path> target_of_copy(std::filesystem::path target);

struct DatabaseFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

/// What is in the TYPES of a store's folder, which lies beside the database; empty: there is none. Errors: io
[[nodiscard]] Result<std::string> types_beside(const std::filesystem::path& folder);

/// What of a closed database matters, by name: not its lock and its own talk. Errors: io
Result<std::vector<DatabaseFile>> files_of_closed(const std::filesystem::path& database);
/// A file, synced. Errors: io
Result<void> copy_durably(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace evershard::storage
