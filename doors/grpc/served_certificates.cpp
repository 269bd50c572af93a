#include "evershard/doors/grpc/served_certificates.hpp"

#include <fcntl.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace evershard::door {
namespace {

constexpr unsigned looked_at_every_s = 1;

Refused no_memory_file(int error) {
  return refuse(ErrorCode::io, std::string("certificates cannot be kept in memory: ") + std::strerror(error));
}

Result<storage::Descriptor> memory_file(std::string_view text, std::int64_t written_at_s) {
  storage::Descriptor file(::memfd_create("evershard-certificates", MFD_CLOEXEC));
  if (!file.is_open()) return no_memory_file(errno);
  for (std::string_view left = text; !left.empty();) {
    const auto written = ::write(file.number(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return no_memory_file(errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  const timespec times[2]{{written_at_s, 0}, {written_at_s, 0}};
  if (::futimens(file.number(), times) != 0) return no_memory_file(errno);
  return file;
}

std::string path_of(const storage::Descriptor& file) { return "/proc/self/fd/" + std::to_string(file.number()); }

}  // namespace

Result<std::unique_ptr<ServedCertificates>> ServedCertificates::of(serving::TlsFiles files) {
  std::unique_ptr<ServedCertificates> made(new ServedCertificates(std::move(files)));
  for (auto* file : {&made->pair_, &made->client_ca_}) {
    auto empty = memory_file({}, 0);
    if (!empty) return refuse(empty.error());
    *file = *std::move(empty);
  }
  EVERSHARD_TRY(made->reload());
  return made;
}

std::shared_ptr<grpc::ServerCredentials> ServedCertificates::credentials() const {
  namespace tls = grpc::experimental;
  const bool asks_clients = !files_.client_ca.empty();
  auto provider = asks_clients ? std::make_shared<tls::FileWatcherCertificateProvider>(
                                     path_of(pair_), path_of(pair_), path_of(client_ca_), looked_at_every_s)
                               : std::make_shared<tls::FileWatcherCertificateProvider>(path_of(pair_), path_of(pair_),
                                                                                       looked_at_every_s);
  tls::TlsServerCredentialsOptions options(std::move(provider));
  options.watch_identity_key_cert_pairs();
  if (asks_clients) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  } else {
    options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  }
  return tls::TlsServerCredentials(options);
}

Result<void> ServedCertificates::reload() {
  const auto texts = read_tls(files_);
  if (!texts) return refuse(texts.error());
  ++times_;
  EVERSHARD_TRY(put(pair_, texts->certificate + '\n' + texts->key));
  return put(client_ca_, texts->client_ca);
}

/// Another file under the same name, in one step.
Result<void> ServedCertificates::put(const storage::Descriptor& to, std::string_view text) {
  const auto file = memory_file(text, times_);
  if (!file) return refuse(file.error());
  if (::dup3(file->number(), to.number(), O_CLOEXEC) < 0) return no_memory_file(errno);
  return {};
}

}  // namespace evershard::door
