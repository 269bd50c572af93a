// ServedCertificates: what a door of gRPC shows its clients, exchanged while it is open, whole or not at all.

#pragma once

#include <memory>
#include <string_view>

#include <grpcpp/security/server_credentials.h>

#include "evershard/doors/grpc/read_tls.hpp"
#include "evershard/doors/serving/tls_files.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/files/descriptor.hpp"

namespace evershard::door {

/// gRPC 1.51 takes new certificates from files alone, looks at each of them by itself, and serves nobody with a key
/// that is not the certificate's. So it is given files that this process alone has, in memory, which hold only what
/// fits: the certificates with their key in one, the clients' CA in another.
class ServedCertificates {
 public:
  /// Errors: those of read_tls(); io
  [[nodiscard]] static Result<std::unique_ptr<ServedCertificates>> of(serving::TlsFiles files);

  [[nodiscard]] std::shared_ptr<grpc::ServerCredentials> credentials() const;
  /// For connections from a second later on. Errors: those of read_tls(), io; then what was shown before is shown.
  [[nodiscard]] Result<void> reload();

 private:
  explicit ServedCertificates(serving::TlsFiles files) : files_(std::move(files)) {}
  [[nodiscard]] Result<void> put(const storage::Descriptor& to, std::string_view text);

  const serving::TlsFiles files_;
  storage::Descriptor pair_;
  storage::Descriptor client_ca_;
  std::int64_t times_ = 0;  ///< gRPC tells files apart by the second at which they were written
};

}  // namespace evershard::door
