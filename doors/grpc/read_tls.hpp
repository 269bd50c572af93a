// TlsFiles read and looked at: with what does not fit together gRPC would open a door and serve nobody.

#pragma once

#include <string>

#include "evershard/doors/serving/tls_files.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::door {

/// What the files hold, in PEM.
struct TlsTexts {
  std::string certificate;
  std::string key;
  std::string client_ca;  ///< empty: none is asked for
};

/// Errors: invalid_argument: a file that cannot be read or holds no PEM of its kind, a key that is not the
/// certificate's
[[nodiscard]] Result<TlsTexts> read_tls(const serving::TlsFiles& files);

}  // namespace evershard::door
