// Fuzzing the JSON of commands, by Protobuf's mapping: the first byte says which message. What is read is written as
// JSON that is read again and then written as it was; bytes of any kind give JSON or are refused.

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/api/json/json_value.hpp"
#include "evershard/api/json/message_json.hpp"
#include "evershard/protocol/check.hpp"

namespace {

using namespace evershard;
namespace gpb = google::protobuf;

/// Lists, nesting, enumerations, bytes, numbers of every kind; maps; a JSON of its own.
const gpb::MessageLite& message_of(unsigned char which) {
  static const std::array<const gpb::MessageLite*, 4> messages{
      &gpb::DescriptorProto::default_instance(), &gpb::UninterpretedOption::default_instance(),
      &gpb::Struct::default_instance(), &gpb::Timestamp::default_instance()};
  return *messages[which % messages.size()];
}

void check_written(const gpb::MessageLite& type, std::string_view bytes) {
  const auto json = json_of_bytes(type, bytes);
  if (!json) return;
  EVERSHARD_CHECK(is_json(*json) && json->find('\n') == std::string::npos, "a message is one line of JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& type = message_of(data[0]);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_written(type, text);
  const auto bytes = bytes_of_json(type, text);
  if (!bytes) return 0;
  EVERSHARD_CHECK(is_json(text), "what is read was JSON");
  const auto json = json_of_bytes(type, *bytes);
  if (!json) return 0;  // a time that no JSON can say
  const auto again = bytes_of_json(type, *json);
  // With a field more here and there: one of proto2 that was not set is written with its default.
  EVERSHARD_CHECK(again.has_value(), "what is written is read");
  const auto once_more = json_of_bytes(type, *again);
  EVERSHARD_CHECK(once_more && *once_more == *json, "what is read again is written as it was");
  return 0;
}
