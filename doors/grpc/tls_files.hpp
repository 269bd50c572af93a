// TlsFiles looked at before a door is opened: gRPC itself would open it and serve nobody.

#pragma once

#include "evershard/doors/serving/tls_files.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::door {

/// Errors: invalid_argument: a file that cannot be read or holds no PEM of its kind, a key that is not the
/// certificate's
[[nodiscard]] Result<void> check(const serving::TlsFiles& files);

}  // namespace evershard::door
