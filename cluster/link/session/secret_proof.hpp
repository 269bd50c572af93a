// SecretProof: both sides show that they know the same secret, and never send it.

#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "evershard/cluster/link/session/hello.hpp"

namespace evershard::cluster {

/// 32 random bytes, used once.
using LinkNonce = std::array<char, 32>;
inline constexpr std::size_t proof_bytes = 32;
/// Less can be guessed from one greeting that somebody listened to.
inline constexpr std::size_t secret_bytes_min = 16;

/// What `side` shows to the other: HMAC-SHA256 over its part and both nonces. Each side's differs, so that none can be
/// sent back to its maker.
[[nodiscard]] std::string secret_proof(std::string_view secret, LinkSide side, const LinkNonce& acceptor,
                                       const LinkNonce& dialler);

/// In a time that does not depend on where they differ.
[[nodiscard]] bool is_same_proof(std::string_view a, std::string_view b);

}  // namespace evershard::cluster
