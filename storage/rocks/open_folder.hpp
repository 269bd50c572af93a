// OpenFolder: whether the folder of an open database is still the one that was opened.

#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace evershard::storage {

/// A file that is deleted while it is open goes on taking what is written, and is gone with its process: what a store
/// acknowledges by then would be on no disk.
///
/// Owner: one thread. Cost: one stat.
class OpenFolder {
 public:
  /// `database`: RocksDB's folder, open. Where it is no folder of the system's own file system nothing is watched.
  explicit OpenFolder(const std::filesystem::path& database) : file_(database / "IDENTITY"), opened_(look()) {}

  /// Whether the folder was removed, moved away, or another one was put in its place.
  [[nodiscard]] bool gone() const { return opened_ && look() != opened_; }
  [[nodiscard]] std::string why() const {
    return file_.parent_path().string() + " was removed or exchanged while it was open";
  }

 private:
  using File = std::pair<dev_t, ino_t>;
  [[nodiscard]] std::optional<File> look() const {
    struct stat found {};
    if (::stat(file_.c_str(), &found) != 0) return std::nullopt;
    return File{found.st_dev, found.st_ino};
  }

  const std::filesystem::path file_;  ///< written once, when the database is made
  const std::optional<File> opened_;
};

}  // namespace evershard::storage
