// How keys are named and what is kept of one, wherever they lie: in files, in rows.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "evershard/services/erasure/subject_keys.hpp"

namespace evershard::cluster {

/// HMAC-SHA-256.
[[nodiscard]] std::string keyed_digest(std::string_view secret, std::string_view bytes);

/// PayloadKey::secret_bytes random bytes: a key's, or those that names are made with.
[[nodiscard]] std::string new_secret();
inline constexpr std::size_t kept_bytes = PayloadKey::secret_bytes + 8;
/// A secret, and bytes that tell a damaged one from another one.
[[nodiscard]] std::string kept_bytes_of(std::string_view secret);
/// Absent: they are damaged.
[[nodiscard]] std::optional<std::string> secret_in(std::string_view kept);
/// Wipes the secret that it is made of.
[[nodiscard]] HeldKey held_key(const KeyId& id, std::string secret);

/// Overwrites bytes that nobody needs any more.
void wipe(std::string& bytes);

/// Names keys by a secret of the place where they lie: who sees the names cannot tell whose they are.
/// Source: docs/internals/on-disk-format.md, "Keys of subjects"
class KeyNames {
 public:
  explicit KeyNames(std::string secret) : secret_(std::move(secret)) {}
  /// `generation`: how many keys of the subject were destroyed before this one.
  [[nodiscard]] KeyId id_of(std::string_view subject, std::uint32_t generation) const;

 private:
  std::string secret_;
};

}  // namespace evershard::cluster
