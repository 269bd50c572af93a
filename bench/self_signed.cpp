#include "evershard/bench/self_signed.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>

namespace evershard::bench {
namespace {

template <class T, auto release>
struct ReleasesMade {
  void operator()(T* made) const { release(made); }
};
using MadeKey = std::unique_ptr<EVP_PKEY, ReleasesMade<EVP_PKEY, EVP_PKEY_free>>;
using MadeCertificate = std::unique_ptr<X509, ReleasesMade<X509, X509_free>>;
using OpenFile = std::unique_ptr<std::FILE, ReleasesMade<std::FILE, std::fclose>>;

bool extend(X509* certificate, int what, const char* value) {
  const std::unique_ptr<X509_EXTENSION, ReleasesMade<X509_EXTENSION, X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, what, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

}  // namespace

Result<void> self_signed(const std::filesystem::path& folder) {
  const MadeKey key(EVP_EC_gen("P-256"));
  const MadeCertificate certificate(X509_new());
  auto* const name = X509_get_subject_name(certificate.get());
  const bool made = key && X509_set_version(certificate.get(), 2) == 1 &&
                    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1) == 1 &&
                    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3'600) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86'400) != nullptr &&
                    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                               reinterpret_cast<const unsigned char*>("bench"), -1, -1, 0) == 1 &&
                    X509_set_issuer_name(certificate.get(), name) == 1 &&
                    X509_set_pubkey(certificate.get(), key.get()) == 1 &&
                    extend(certificate.get(), NID_basic_constraints, "critical,CA:TRUE") &&
                    extend(certificate.get(), NID_subject_alt_name, "IP:127.0.0.1") &&
                    X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0;
  if (!made) return refuse(ErrorCode::io, "OpenSSL made no certificate");
  const OpenFile certificate_file(std::fopen((folder / "certificate.pem").c_str(), "w"));
  const OpenFile key_file(std::fopen((folder / "key.pem").c_str(), "w"));
  if (!certificate_file || !key_file || PEM_write_X509(certificate_file.get(), certificate.get()) != 1 ||
      PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return refuse(ErrorCode::io, "the certificate could not be written below " + folder.string());
  }
  return {};
}

}  // namespace evershard::bench
