// What nodes and coordinator say of keys, as bytes: Protobuf, in protocol/v1/keys.proto. The only file that knows
// those.

#pragma once

#include <string>
#include <string_view>

#include "evershard/cluster/keys/key_network.hpp"

namespace evershard::cluster {

[[nodiscard]] std::string encode(const KeysAsked& asked);
[[nodiscard]] std::string encode(const KeysAnswered& answered);
[[nodiscard]] std::string encode(const KeysForget& forget);
[[nodiscard]] std::string encode(const KeysForgotten& forgotten);

/// Errors of each: corruption: malformed
[[nodiscard]] Result<KeysAsked> decode_keys_asked(std::string_view bytes);
[[nodiscard]] Result<KeysAnswered> decode_keys_answered(std::string_view bytes);
[[nodiscard]] Result<KeysForget> decode_keys_forget(std::string_view bytes);
[[nodiscard]] Result<KeysForgotten> decode_keys_forgotten(std::string_view bytes);

}  // namespace evershard::cluster
