// MessageJson: messages that are compiled into this program, as JSON by Protobuf's mapping; and what describes them.

#pragma once

#include <string>
#include <string_view>

#include "evershard/api/json/registered_types.hpp"
#include "evershard/protocol/result.hpp"

namespace google::protobuf {
class MessageLite;
}

namespace evershard {

/// Whether the message knows its own fields: one of Protobuf's lite runtime does not, and has no JSON.
[[nodiscard]] bool describes_itself(const google::protobuf::MessageLite& message);

/// Shape:  names of fields as in the .proto or in camel case; `type`: any message of the type, which describes itself.
/// Returns: deterministic bytes.
/// Errors: invalid_argument: no JSON; none of this message: with the path of what does not fit
[[nodiscard]] Result<std::string> bytes_of_json(const google::protobuf::MessageLite& type, std::string_view json);

/// One line of UTF-8; fields as they are named in the .proto, those of scalar types always.
/// Errors: invalid_argument: the bytes are not of it, or say no JSON
[[nodiscard]] Result<std::string> json_of_bytes(const google::protobuf::MessageLite& type, std::string_view bytes);

/// Puts in the message's file and what that imports. Returns: false: it does not describe itself
bool add_compiled(const google::protobuf::MessageLite& message, RegisteredTypes& to);

/// The files as a FileDescriptorSet, each behind those that it imports.
[[nodiscard]] std::string descriptor_set_of(const RegisteredTypes& types);

}  // namespace evershard
