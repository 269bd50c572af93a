#include "evershard/actors/model/protobuf.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <climits>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard {
namespace pb = google::protobuf;

std::string protobuf_name(const pb::MessageLite& message) { return message.GetTypeName(); }

Result<std::string> protobuf_bytes(const pb::MessageLite& message) {
  if (!message.IsInitialized()) {
    return refuse(ErrorCode::invalid_argument,
                  message.GetTypeName() + " lacks required fields: " + message.InitializationErrorString());
  }
  const std::size_t size = message.ByteSizeLong();
  if (size > INT_MAX) {
    return refuse(ErrorCode::too_large,
                  message.GetTypeName() + " has " + std::to_string(size) + " bytes, Protobuf's limit is 2 GiB");
  }
  std::string bytes(size, '\0');
  pb::io::ArrayOutputStream array(bytes.data(), static_cast<int>(size));
  {
    // The order of a map's entries differs from instance to instance otherwise, and equal states would be unequal
    // bytes.
    pb::io::CodedOutputStream coded(&array);
    coded.SetSerializationDeterministic(true);
    message.SerializeWithCachedSizes(&coded);
    EVERSHARD_CHECK(!coded.HadError(), "a message is as long as it said");
  }
  return bytes;
}

Result<void> parse_protobuf(std::string_view bytes, pb::MessageLite& message) {
  if (bytes.size() <= INT_MAX && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  return refuse(ErrorCode::corruption,
                std::to_string(bytes.size()) + " bytes are not a " + message.GetTypeName() + ": " + in_quotes(bytes));
}

std::string protobuf_text(const pb::MessageLite& message) {
  const auto* full = dynamic_cast<const pb::Message*>(&message);
  if (full == nullptr) return in_quotes(message.SerializePartialAsString());
  pb::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!pb::util::MessageToJsonString(*full, &text, options).ok()) return full->ShortDebugString();
  return text;
}

}  // namespace evershard
