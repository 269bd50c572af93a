#include "evershard/services/erasure/key_names.hpp"

#include <cstring>

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "evershard/protocol/check.hpp"

namespace evershard::cluster {

std::string keyed_digest(std::string_view secret, std::string_view bytes) {
  std::string digest(32, '\0');
  unsigned size = 0;
  EVERSHARD_CHECK(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                       reinterpret_cast<unsigned char*>(digest.data()), &size) != nullptr,
                  "OpenSSL has SHA-256");
  return digest;
}

std::string new_secret() {
  std::string bytes(PayloadKey::secret_bytes, '\0');
  EVERSHARD_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) == 1,
                  "the operating system has random bytes");
  return bytes;
}

std::string kept_bytes_of(std::string_view secret) {
  return std::string(secret) +
         keyed_digest(secret, "evershard key file").substr(0, kept_bytes - PayloadKey::secret_bytes);
}

std::optional<std::string> secret_in(std::string_view kept) {
  if (kept.size() != kept_bytes) return std::nullopt;
  std::string secret(kept.substr(0, PayloadKey::secret_bytes));
  if (kept_bytes_of(secret) != kept) return std::nullopt;
  return secret;
}

HeldKey held_key(const KeyId& id, std::string secret) {
  EVERSHARD_CHECK(secret.size() == PayloadKey::secret_bytes, "a key's secret has its length");
  PayloadKey read{id, {}};
  std::memcpy(read.secret.data(), secret.data(), secret.size());
  HeldKey key(read);
  OPENSSL_cleanse(read.secret.data(), read.secret.size());
  wipe(secret);
  return key;
}

void wipe(std::string& bytes) { OPENSSL_cleanse(bytes.data(), bytes.size()); }

KeyId KeyNames::id_of(std::string_view subject, std::uint32_t generation) const {
  const auto digest = keyed_digest(secret_, std::to_string(generation) + ":" + std::string(subject));
  KeyId id;
  std::memcpy(id.bytes.data(), digest.data(), id.bytes.size());
  return id;
}

}  // namespace evershard::cluster
