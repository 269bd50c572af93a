#include "evershard/cluster/link/tls_context.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {
namespace {

// OpenSSL's own sockets write with write(), which raises SIGPIPE; a library must not have to change the signals of its
// process.
int write_quietly(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto wrote = ::send(static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))), bytes,
                            static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (wrote < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(wrote);
}

int read_quietly(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto got = ::recv(static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))), bytes,
                          static_cast<std::size_t>(size), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

BIO_METHOD* quiet_socket() {
  static BIO_METHOD* const method = [] {
    auto* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals");
    BIO_meth_set_write(made, write_quietly);
    BIO_meth_set_read(made, read_quietly);
    BIO_meth_set_ctrl(made, [](BIO*, int command, long, void*) -> long { return command == BIO_CTRL_FLUSH ? 1 : 0; });
    BIO_meth_set_create(made, [](BIO* bio) {
      BIO_set_init(bio, 1);
      return 1;
    });
    return made;
  }();
  return method;
}

std::shared_ptr<SSL> connection_on(SSL_CTX* context, int socket) {
  ERR_clear_error();
  std::shared_ptr<SSL> connection(SSL_new(context), SSL_free);
  EVERSHARD_CHECK(connection != nullptr, "OpenSSL makes a connection");
  auto* bio = BIO_new(quiet_socket());
  EVERSHARD_CHECK(bio != nullptr, "OpenSSL makes a BIO");
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  SSL_set_bio(connection.get(), bio, bio);
  return connection;
}

Refused bad_file(const char* what, const std::filesystem::path& file) {
  return refuse(ErrorCode::invalid_argument, std::string("the link's ") + what + " " + in_quotes(file.string(), 300) +
                                                 " cannot be used: " + tls_error_text());
}

bool is_address(const std::string& name) {
  auto* const parsed = a2i_IPADDRESS(name.c_str());
  ERR_clear_error();
  ASN1_OCTET_STRING_free(parsed);
  return parsed != nullptr;
}

/// The members that a certificate names.
std::vector<std::string> members_named(X509* certificate) {
  std::vector<std::string> uris;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const auto* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const auto* text = name->d.uniformResourceIdentifier;
    const std::string_view uri(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                               static_cast<std::size_t>(ASN1_STRING_length(text)));
    if (uri.starts_with("evershard://")) uris.emplace_back(uri);
  }
  ERR_clear_error();
  return uris;
}

/// Empty: it is this one's. `unbound`: one that names nobody is everybody's.
std::string why_not_of(X509* certificate, const LinkIdentity& who, bool unbound) {
  const auto named = certificate == nullptr ? std::vector<std::string>{} : members_named(certificate);
  const auto wanted = member_uri(who);
  if (std::find(named.begin(), named.end(), wanted) != named.end() || (named.empty() && unbound)) return {};
  std::string all;
  for (const auto& uri : named) all += (all.empty() ? "" : ", ") + in_quotes(uri, 200);
  return (all.empty() ? "names no member of a cluster" : "is for " + all) + ", not for " + in_quotes(wanted, 300);
}

}  // namespace

std::string tls_error_text() {
  const auto code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "the connection ended";
  const char* reason = ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  char text[200];
  ERR_error_string_n(code, text, sizeof text);
  return text;
}

Result<std::shared_ptr<const TlsContext>> TlsContext::load(const LinkTls& files, const LinkIdentity& who) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  EVERSHARD_CHECK(context != nullptr, "OpenSSL makes a context");
  auto* const raw = context.get();
  SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION);
  SSL_CTX_set_options(raw, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(raw, 0);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);  // who shows a certificate, shows it each time
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_default_passwd_cb(raw, [](char*, int, int, void*) { return 0; });  // nobody is there to be asked
  if (SSL_CTX_use_certificate_chain_file(raw, files.certificate.c_str()) != 1)
    return bad_file("certificate", files.certificate);
  if (SSL_CTX_use_PrivateKey_file(raw, files.key.c_str(), SSL_FILETYPE_PEM) != 1) return bad_file("key", files.key);
  if (SSL_CTX_check_private_key(raw) != 1) return bad_file("key", files.key);
  if (const auto why = why_not_of(SSL_CTX_get0_certificate(raw), who, false); !why.empty() && !files.unbound)
    return refuse(ErrorCode::invalid_argument,
                  "the link's certificate " + in_quotes(files.certificate.string(), 300) + ' ' + why);
  if (SSL_CTX_load_verify_locations(raw, files.ca.c_str(), nullptr) != 1) return bad_file("CA", files.ca);
  std::shared_ptr<TlsContext> made(new TlsContext);
  made->context_ = std::move(context);
  made->unbound_ = files.unbound;
  return made;
}

std::shared_ptr<SSL> TlsContext::dialling(int socket, const std::string& name) const {
  auto connection = connection_on(context_.get(), socket);
  auto* const parameters = SSL_get0_param(connection.get());
  X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool set = is_address(name) ? X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) == 1
                                    : X509_VERIFY_PARAM_set1_host(parameters, name.data(), name.size()) == 1;
  EVERSHARD_CHECK(set, "a dialled connection checks the peer's name");
  if (!is_address(name)) SSL_set_tlsext_host_name(connection.get(), name.c_str());
  SSL_set_connect_state(connection.get());
  return connection;
}

std::shared_ptr<SSL> TlsContext::dialled(int socket) const {
  auto connection = connection_on(context_.get(), socket);
  SSL_set_accept_state(connection.get());
  return connection;
}

Result<void> TlsContext::check_member(SSL* connection, const LinkIdentity& who) const {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(connection), X509_free);
  const auto why = why_not_of(certificate.get(), who, unbound_);
  if (why.empty()) return {};
  return refuse(ErrorCode::unauthenticated, "its certificate " + why);
}

}  // namespace evershard::cluster
