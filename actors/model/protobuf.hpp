// Protobuf messages as bytes and as text, without a header of Protobuf's: a user's generated header brings its own.

#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "evershard/protocol/result.hpp"

namespace google::protobuf {
class MessageLite;
}

namespace evershard {

template <class T>
concept ProtobufMessage = std::is_base_of_v<google::protobuf::MessageLite, T>;

/// The full name, as `bank.Deposited`.
[[nodiscard]] std::string protobuf_name(const google::protobuf::MessageLite& message);
/// Returns: deterministic bytes (maps in order of their keys): equal messages of one program are equal bytes.
/// Errors:  invalid_argument  a required field is missing; too_large  2 GiB
[[nodiscard]] Result<std::string> protobuf_bytes(const google::protobuf::MessageLite& message);
/// Errors: corruption
[[nodiscard]] Result<void> parse_protobuf(std::string_view bytes, google::protobuf::MessageLite& message);
/// One line of JSON, every field shown; for a person.
[[nodiscard]] std::string protobuf_text(const google::protobuf::MessageLite& message);

}  // namespace evershard
