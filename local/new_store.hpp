// NewStore: a store that was made for a start that failed goes with it.

#pragma once

#include <filesystem>
#include <vector>

namespace evershard {

/// Made before the store is opened, and destroyed after the store is closed. Unless keep() was called, it deletes the
/// files and folders that the opening made: only files that a store makes, and only where nothing was ever stored.
class NewStore {
 public:
  explicit NewStore(std::filesystem::path data_dir);
  ~NewStore();
  NewStore(const NewStore&) = delete;

  /// What was made stays.
  void keep() { made_here_ = false; }

 private:
  const std::filesystem::path data_dir_;
  bool made_here_ = false;                       ///< the folder held no store before
  std::vector<std::filesystem::path> new_dirs_;  ///< that were not there, the innermost first
};

}  // namespace evershard
