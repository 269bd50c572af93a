// TokenFile: the tokens as the file says them now.

#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "evershard/doors/serving/access.hpp"

namespace evershard::server {

/// From any thread.
class TokenFile {
 public:
  /// An empty path: no tokens, everybody may do everything.
  explicit TokenFile(std::filesystem::path path);

  /// Errors: invalid_argument (a line that is wrong), io (a file that cannot be read); what was read before stays in
  ///         force. No error shows what the file holds, nor its name: it may be a token that was put in its place.
  [[nodiscard]] Result<void> load();
  [[nodiscard]] std::shared_ptr<const serving::Access> access() const;
  /// Others than its owner and group may read it.
  [[nodiscard]] bool is_open_to_others() const;

 private:
  const std::filesystem::path path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const serving::Access> access_;
};

}  // namespace evershard::server
