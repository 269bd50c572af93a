// StoreMaintenance: what a store on files has to offer to those who look after it.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

struct DamagedFile {
  std::filesystem::path path;
  std::string family;
  std::string why;

  [[nodiscard]] std::string sentence() const {
    return "file " + path.string() + " of family " + family + " is damaged: " + why;
  }
};

/// Any thread; keeps the files open as long as it lives, even if the store is closed meanwhile.
class StoreMaintenance {
 public:
  virtual ~StoreMaintenance() = default;

  /// The store's folder, in which the database lies.
  [[nodiscard]] virtual std::filesystem::path folder() const = 0;

  /// Reads every block of every file there is now. Units: progress in bytes. Errors: cancelled, io
  virtual Result<void> check_files(const std::function<void(const DamagedFile&)>& damaged,
                                   const Progress& progress) = 0;

  /// The database as it stands, in a folder that is not there yet: linked, or copied to another disk. Errors:
  /// corruption, io
  virtual Result<void> link_database(const std::filesystem::path& folder) = 0;

  /// All rows as they are now, while commits go on: each commit is in them whole or not at all.
  [[nodiscard]] virtual std::unique_ptr<const Rows> frozen_rows() const = 0;

  /// What was committed lies in sorted files, and the log of it goes: what it says of removed events too. Errors:
  /// corruption, io
  virtual Result<void> flush_log() = 0;

  /// A stretch of keys of one family, [from, until); empty: to the end.
  struct Stretch {
    std::string family;
    std::string from, until;
    std::uint64_t bytes = 0;
  };
  /// All that is in files, in stretches of about `bytes`.
  [[nodiscard]] virtual std::vector<Stretch> stretches(std::uint64_t bytes) const = 0;
  /// Errors: corruption, io
  virtual Result<void> rewrite(const Stretch& stretch) = 0;
};

}  // namespace evershard::storage
