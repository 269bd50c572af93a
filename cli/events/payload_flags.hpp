// Payload flags: --payload, --payload-file, --payload-format; for appends and snapshots.

#pragma once

#include <string>

#include "evershard/cli/options.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cli {

struct Payload {
  std::string bytes{};
  PayloadFormat format = PayloadFormat::unspecified;
};

void add_payload_flags(Options& options);
/// --payload is JSON; --payload-file is any bytes. Without --payload-format: 1 (JSON) where they are JSON, else 0.
/// Errors: invalid_argument, not_found, too_large, io
[[nodiscard]] Result<Payload> payload_of(const Arguments& arguments);

}  // namespace evershard::cli
