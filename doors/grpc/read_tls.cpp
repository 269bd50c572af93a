#include "evershard/doors/grpc/read_tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <fstream>
#include <iterator>
#include <memory>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::door {
namespace {

template <auto release>
struct Releases {
  template <class T>
  void operator()(T* held) const {
    release(held);
  }
};
using Bio = std::unique_ptr<BIO, Releases<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Releases<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Releases<EVP_PKEY_free>>;

Refused no_pem(const std::string& file, const char* what, const char* how) {
  ERR_clear_error();
  return refuse(ErrorCode::invalid_argument, std::string(what) + " " + in_quotes(file, 300) + " " + how);
}

/// Errors: invalid_argument: a file that is not there, or empty
Result<std::string> text_of_file(const std::string& file, const char* what) {
  std::ifstream in(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in || text.empty()) return no_pem(file, what, "cannot be read, or is empty");
  return text;
}

Result<Certificate> first_certificate(const std::string& text, const std::string& file, const char* what) {
  const Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!certificate) return no_pem(file, what, "holds no certificate in PEM");
  return certificate;
}

}  // namespace

Result<TlsTexts> read_tls(const serving::TlsFiles& files) {
  const auto certificate_text = text_of_file(files.certificate, "the certificate");
  if (!certificate_text) return refuse(certificate_text.error());
  const auto certificate = first_certificate(*certificate_text, files.certificate, "the certificate");
  if (!certificate) return refuse(certificate.error());
  const auto key_text = text_of_file(files.key, "the key");
  if (!key_text) return refuse(key_text.error());
  const Bio bio(BIO_new_mem_buf(key_text->data(), static_cast<int>(key_text->size())));
  // No passphrase: there is no user to type one.
  const Key key(PEM_read_bio_PrivateKey(
      bio.get(), nullptr, [](char*, int, int, void*) { return 0; }, nullptr));
  if (!key) return no_pem(files.key, "the key", "holds no key in PEM, or one with a passphrase");
  if (X509_check_private_key(certificate->get(), key.get()) != 1) {
    return no_pem(files.key, "the key",
                  ("is not that of the certificate " + in_quotes(files.certificate, 300)).c_str());
  }
  TlsTexts texts{*certificate_text, *key_text, {}};
  if (files.client_ca.empty()) return texts;
  const auto ca_text = text_of_file(files.client_ca, "the clients' CA");
  if (!ca_text) return refuse(ca_text.error());
  const auto ca = first_certificate(*ca_text, files.client_ca, "the clients' CA");
  if (!ca) return refuse(ca.error());
  texts.client_ca = *ca_text;
  return texts;
}

}  // namespace evershard::door
