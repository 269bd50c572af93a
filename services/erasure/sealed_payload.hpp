// Sealed payloads: bytes that only who has a subject's key can read.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// Names a key: says nothing about whose it is.
struct KeyId {
  std::array<std::uint8_t, 16> bytes{};

  [[nodiscard]] std::string text() const;  ///< 32 digits of lower-case hex
  static std::optional<KeyId> parse(std::string_view text);
  friend auto operator<=>(const KeyId&, const KeyId&) = default;
  friend bool operator==(const KeyId&, const KeyId&) = default;
};

struct PayloadKey {
  static constexpr std::size_t secret_bytes = 32;
  KeyId id;
  std::array<std::uint8_t, secret_bytes> secret{};
};

/// What is sealed: also whose it is, so that who reads it can write it again elsewhere, under that subject's key there.
struct PlainPayload {
  std::string subject;
  std::string payload;
  PayloadFormat format = PayloadFormat::unspecified;

  friend bool operator==(const PlainPayload&, const PlainPayload&) = default;
};

/// What it is sealed for: it opens for nothing else.
struct SealedFor {
  std::string_view aggregate;  ///< as text; empty: none
  std::string_view type;       ///< the event's; of a snapshot empty
};

/// AES-256-GCM. The same (key, `once`, content) gives the same bytes, so that a request that is sent again is the same
/// one; any difference gives another nonce, which is made of all of them.
///
/// Shape: `once`: what tells this one from others of equal content: its event's id.
/// Source: docs/internals/on-disk-format.md, "Sealed payloads"
[[nodiscard]] std::string seal_payload(const PayloadKey& key, const SealedFor& sealed_for, std::string_view once,
                                       const PlainPayload& plain);

/// Which key opens it; absent: it was not sealed by this function (a user's own encryption, say).
[[nodiscard]] std::optional<KeyId> sealed_by(PayloadFormat format, std::string_view payload);

/// Errors: corruption: it is damaged, or was sealed by another key, or for something else
[[nodiscard]] Result<PlainPayload> open_payload(const PayloadKey& key, const SealedFor& sealed_for,
                                                std::string_view sealed);

}  // namespace evershard::cluster
