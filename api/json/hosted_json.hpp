// What is hosted, as JSON.

#pragma once

#include "evershard/api/hosted_kinds.hpp"
#include "evershard/api/json/json_text.hpp"

namespace evershard {

enum class Descriptors : std::uint8_t {
  left_out,
  base64,
};

/// `{"kinds":[{"type":"..","state":{..},"commands":[..],"events":[..]}],"descriptors":".."}`
void write_hosted_kinds(JsonText& json, const HostedKinds& kinds, Descriptors descriptors);

}  // namespace evershard
