// Whether a request can be said in Protobuf, whose texts are UTF-8: names, filters, reasons come from anywhere.

#pragma once

#include <google/protobuf/message.h>

#include "evershard/protocol/result.hpp"

namespace evershard::remote {

/// Looked at before it is sent: else Protobuf complains on standard error, sends it, and the server can only say that
/// it reads nothing of it.
///
/// Errors: invalid_argument: which text is not UTF-8
[[nodiscard]] Result<void> sendable(const google::protobuf::Message& request);

}  // namespace evershard::remote
