#include "evershard/cluster/link/session/secret_proof.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "evershard/protocol/check.hpp"

namespace evershard::cluster {

std::string secret_proof(std::string_view secret, LinkSide side, const LinkNonce& acceptor, const LinkNonce& dialler) {
  std::string input = side == LinkSide::dialler ? "evershard link: I dialled" : "evershard link: I was dialled";
  input.append(acceptor.data(), acceptor.size()).append(dialler.data(), dialler.size());
  std::string proof(proof_bytes, '\0');
  unsigned int size = 0;
  const auto* made = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                          reinterpret_cast<const unsigned char*>(input.data()), input.size(),
                          reinterpret_cast<unsigned char*>(proof.data()), &size);
  EVERSHARD_CHECK(made != nullptr && size == proof_bytes, "HMAC-SHA256 has 32 bytes");
  return proof;
}

bool is_same_proof(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace evershard::cluster
