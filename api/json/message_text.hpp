// MessageText: what a message says, as Protobuf's JSON, by its descriptor and by reflection: presence, groups and
// extensions as they are, not as the bytes alone look.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace google::protobuf {
class Descriptor;
class DescriptorPool;
class Message;
class MessageFactory;
}  // namespace google::protobuf

namespace evershard {

/// How whole numbers of 64 bits come out, and a `float`.
enum class LongNumbers : std::uint8_t {
  strings,  ///< as Protobuf's JSON has them; of a float the shortest text that is that float again
  numbers,  ///< as those of 32 bits, but for those within an `Any`; of a float, there too, the shortest text that is
            ///< its value as a double
};

/// Where the messages inside of an `Any`, and extensions, are looked for.
struct MessageTypes {
  const google::protobuf::DescriptorPool& pool;
  google::protobuf::MessageFactory& factory;
};

struct MessageText {
  std::string json;             ///< fields by number, then extensions by number as "[full.name]"; maps in order of key
  bool unknown_fields = false;  ///< it, or a message in it, holds more than its type knows of
};

/// With extensions that the pool knows. Returns: false: the bytes are not of it; required fields are not asked for
[[nodiscard]] bool parse_message(std::string_view bytes, const MessageTypes& types, google::protobuf::Message& to);

/// A scalar without presence is shown always, what has presence where it is there; repeated fields always.
/// Errors: invalid_argument: what it says is no JSON (a text that is no UTF-8, a time out of its range, a path of a
///         field mask that would come back as another, an `Any` of what the pool does not know), or it is too deep
[[nodiscard]] Result<MessageText> text_of_message(const google::protobuf::Message& message, const MessageTypes& types,
                                                  LongNumbers longs);

}  // namespace evershard
