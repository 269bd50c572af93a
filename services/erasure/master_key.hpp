// MasterKey: seals what lies where others may read it.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"
#include "evershard/services/erasure/subject_keys.hpp"

namespace evershard::cluster {

/// 32 random bytes that every coordinator has as a file. A copy has the same secret, which is wiped with the last one.
class MasterKey {
 public:
  /// From 64 digits of hex, or base64. Errors: invalid_argument: it is neither, or has another length. No error shows
  /// what is in it
  [[nodiscard]] static Result<MasterKey> parse(std::string_view text);

  /// Made of its secret: tells it from other master keys.
  [[nodiscard]] const KeyId& id() const { return key_.id; }

  /// AES-256-GCM, as seal_payload(): the same row and bytes give the same result. It opens under that row's name only.
  [[nodiscard]] std::string seal(std::string_view row, std::string_view bytes) const;
  /// Errors: invalid_argument: another master key has sealed it; corruption: it is damaged, or was another row's
  [[nodiscard]] Result<std::string> open(std::string_view row, std::string_view sealed) const;

 private:
  explicit MasterKey(HeldKey key) : key_(std::move(key)) {}
  HeldKey key_;
};

}  // namespace evershard::cluster
