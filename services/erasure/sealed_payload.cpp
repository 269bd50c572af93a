#include "evershard/services/erasure/sealed_payload.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/sealed.hpp"

namespace evershard::cluster {
namespace {

// magic (4) | key id (16) | format, little-endian (4) | nonce (12) | ciphertext | tag (16).
// The plain text: length of the subject (1), subject, payload.
constexpr std::size_t key_at = 4, format_at = 20, nonce_at = 24, text_at = 36, nonce_bytes = 12, tag_bytes = 16;

using Digest = std::array<std::uint8_t, 32>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const std::uint8_t* raw(std::string_view bytes) { return reinterpret_cast<const std::uint8_t*>(bytes.data()); }
std::uint8_t* raw(std::string& bytes) { return reinterpret_cast<std::uint8_t*>(bytes.data()); }
int length_of(std::size_t bytes) { return static_cast<int>(bytes); }  // payloads have at most some MiB

Digest mac(std::span<const std::uint8_t> key, std::string_view bytes) {
  Digest digest;
  unsigned size = 0;
  EVERSHARD_CHECK(
      HMAC(EVP_sha256(), key.data(), length_of(key.size()), raw(bytes), bytes.size(), digest.data(), &size) != nullptr,
      "OpenSSL has SHA-256");
  return digest;
}

/// Every part with its length before it: nothing can be taken for something else.
void add_part(std::string& to, std::string_view part) {
  for (int shift = 0; shift < 64; shift += 8)
    to.push_back(static_cast<char>(static_cast<std::uint64_t>(part.size()) >> shift));
  to.append(part);
}

std::string bound_bytes(std::string_view head, const SealedFor& sealed_for) {
  std::string bytes;
  add_part(bytes, head);
  add_part(bytes, sealed_for.aggregate);
  add_part(bytes, sealed_for.type);
  return bytes;
}

constexpr char digits[] = "0123456789abcdef";

}  // namespace

std::string KeyId::text() const {
  std::string text;
  for (const auto byte : bytes) {
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 15]);
  }
  return text;
}

std::optional<KeyId> KeyId::parse(std::string_view text) {
  KeyId id;
  if (text.size() != 2 * id.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto* digit = std::find(digits, digits + 16, text[i]);
    if (digit == digits + 16) return std::nullopt;
    id.bytes[i / 2] = static_cast<std::uint8_t>(id.bytes[i / 2] << 4 | (digit - digits));
  }
  return id;
}

std::string seal_payload(const PayloadKey& key, const SealedFor& sealed_for, std::string_view once,
                         const PlainPayload& plain) {
  EVERSHARD_CHECK(plain.subject.size() <= subject_bytes_max, "a subject is a name");
  std::string text;
  text.reserve(1 + plain.subject.size() + plain.payload.size());
  text.push_back(static_cast<char>(plain.subject.size()));
  text.append(plain.subject).append(plain.payload);

  std::string sealed(sealed_mark);
  sealed.append(reinterpret_cast<const char*>(key.id.bytes.data()), key.id.bytes.size());
  const auto format = static_cast<std::uint32_t>(plain.format);
  for (int shift = 0; shift < 32; shift += 8) sealed.push_back(static_cast<char>(format >> shift));
  const auto bound = bound_bytes(sealed, sealed_for);

  std::string unique = bound;
  add_part(unique, once);
  add_part(unique, text);
  const auto nonce = mac(mac(key.secret, "evershard nonce"), unique);
  sealed.append(reinterpret_cast<const char*>(nonce.data()), nonce_bytes);

  const auto secret = mac(key.secret, "evershard seal");
  sealed.resize(text_at + text.size() + tag_bytes);
  auto* const out = raw(sealed);
  const CipherContext context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int size = 0;
  EVERSHARD_CHECK(context != nullptr, "memory for a cipher");
  EVERSHARD_CHECK(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, secret.data(), out + nonce_at) == 1,
                  "OpenSSL has AES-256-GCM");
  EVERSHARD_CHECK(EVP_EncryptUpdate(context.get(), nullptr, &size, raw(bound), length_of(bound.size())) == 1,
                  "OpenSSL has AES-256-GCM");
  EVERSHARD_CHECK(
      EVP_EncryptUpdate(context.get(), out + text_at, &size, raw(std::string_view(text)), length_of(text.size())) == 1,
      "OpenSSL has AES-256-GCM");
  EVERSHARD_CHECK(EVP_EncryptFinal_ex(context.get(), out + text_at + size, &size) == 1, "OpenSSL has AES-256-GCM");
  EVERSHARD_CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, out + text_at + text.size()) == 1,
                  "OpenSSL has AES-256-GCM");
  return sealed;
}

std::optional<KeyId> sealed_by(PayloadFormat format, std::string_view payload) {
  if (!looks_sealed(format, payload) || payload.size() < text_at + 1 + tag_bytes) return std::nullopt;
  KeyId id;
  std::copy_n(raw(payload) + key_at, id.bytes.size(), id.bytes.begin());
  return id;
}

Result<PlainPayload> open_payload(const PayloadKey& key, const SealedFor& sealed_for, std::string_view sealed) {
  const auto does_not_open = [] {
    return refuse(ErrorCode::corruption, "a sealed payload does not open with its key");
  };
  if (sealed_by(PayloadFormat::encrypted, sealed) != key.id) return does_not_open();
  const auto bound = bound_bytes(sealed.substr(0, nonce_at), sealed_for);
  const auto secret = mac(key.secret, "evershard seal");
  const auto bytes = sealed.size() - text_at - tag_bytes;
  std::string text(bytes, '\0');
  std::array<std::uint8_t, tag_bytes> tag;
  std::copy_n(raw(sealed) + text_at + bytes, tag_bytes, tag.begin());

  const CipherContext context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int size = 0;
  EVERSHARD_CHECK(context != nullptr, "memory for a cipher");
  EVERSHARD_CHECK(
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, secret.data(), raw(sealed) + nonce_at) == 1,
      "OpenSSL has AES-256-GCM");
  EVERSHARD_CHECK(EVP_DecryptUpdate(context.get(), nullptr, &size, raw(bound), length_of(bound.size())) == 1,
                  "OpenSSL has AES-256-GCM");
  EVERSHARD_CHECK(EVP_DecryptUpdate(context.get(), raw(text), &size, raw(sealed) + text_at, length_of(bytes)) == 1,
                  "OpenSSL has AES-256-GCM");
  EVERSHARD_CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) == 1,
                  "OpenSSL has AES-256-GCM");
  if (EVP_DecryptFinal_ex(context.get(), raw(text) + size, &size) != 1) return does_not_open();

  const auto subject = static_cast<std::uint8_t>(text.front());
  if (text.size() < 1u + subject) return does_not_open();
  std::uint32_t format = 0;
  for (std::size_t i = 0; i < 4; ++i) format |= static_cast<std::uint32_t>(raw(sealed)[format_at + i]) << (8 * i);
  return PlainPayload{text.substr(1, subject), text.substr(1u + subject), static_cast<PayloadFormat>(format)};
}

}  // namespace evershard::cluster
