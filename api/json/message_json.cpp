#include "evershard/api/json/message_json.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>

#include <climits>
#include <memory>
#include <set>

#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/api/json/message_text.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard {
namespace {

namespace pb = google::protobuf;

std::unique_ptr<pb::Message> empty_of(const pb::MessageLite& type) {
  const auto* full = dynamic_cast<const pb::Message*>(&type);
  EVERSHARD_CHECK(full != nullptr, "JSON is asked of messages that describe themselves");
  return std::unique_ptr<pb::Message>(full->New());
}

/// Equal messages are equal bytes, maps too.
std::string deterministic_bytes(const pb::Message& message) {
  std::string bytes;
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

/// The path stands first, what stands there may be as long as it likes.
std::string shortened(std::string why) {
  constexpr std::size_t most = 300;
  constexpr int character_bytes_max = 4;
  if (why.starts_with(": ")) why.erase(0, 2);
  if (why.size() <= most) return why;
  std::size_t end = most;
  for (int i = 1; i < character_bytes_max && (static_cast<unsigned char>(why[end]) & 0xc0) == 0x80; ++i) --end;
  why.resize(end);
  return why + "…";
}

void add_file_of(const pb::FileDescriptor& file, RegisteredTypes& to) {
  if (to.files.contains(file.name())) return;
  pb::FileDescriptorProto proto;
  file.CopyTo(&proto);
  to.files.emplace(file.name(), proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) add_file_of(*file.dependency(i), to);
}

void put_file(const std::string& name, const RegisteredTypes& types, std::set<std::string>& there,
              pb::FileDescriptorSet& set) {
  const auto at = types.files.find(name);
  if (at == types.files.end() || !there.insert(name).second) return;
  pb::FileDescriptorProto file;
  if (!file.ParseFromString(at->second)) return;
  for (const auto& import : file.dependency()) put_file(import, types, there, set);
  *set.add_file() = std::move(file);
}

}  // namespace

bool describes_itself(const pb::MessageLite& message) { return dynamic_cast<const pb::Message*>(&message) != nullptr; }

Result<std::string> bytes_of_json(const pb::MessageLite& type, std::string_view json) {
  if (auto parsed = JsonValue::parse(json); !parsed) return refuse(std::move(parsed).error());
  const pb::LogSilencer silent;
  const auto message = empty_of(type);
  const auto not_of_it = [&](const std::string& why) {
    return refuse(ErrorCode::invalid_argument, "the JSON is no " + type.GetTypeName() + ": " + why);
  };
  const auto read = pb::util::JsonStringToMessage({json.data(), json.size()}, message.get());
  if (!read.ok()) return not_of_it(shortened(read.message().ToString()));
  if (!message->IsInitialized())
    return not_of_it("required fields are missing: " + message->InitializationErrorString());
  if (message->ByteSizeLong() > INT_MAX) return refuse(ErrorCode::too_large, "Protobuf's limit is 2 GiB");
  return deterministic_bytes(*message);
}

Result<std::string> json_of_bytes(const pb::MessageLite& type, std::string_view bytes) {
  const pb::LogSilencer silent;
  const auto message = empty_of(type);
  const auto not_of_it = [&](const std::string& why) {
    return refuse(ErrorCode::invalid_argument,
                  "the " + std::to_string(bytes.size()) + " bytes are no " + type.GetTypeName() + why);
  };
  const MessageTypes types{*pb::DescriptorPool::generated_pool(), *pb::MessageFactory::generated_factory()};
  if (!parse_message(bytes, types, *message) || !message->IsInitialized()) return not_of_it("");
  auto text = text_of_message(*message, types, LongNumbers::strings);
  if (!text) return not_of_it(": " + text.error().what);
  auto& json = text->json;
  if (!stands_in_a_line(json)) return not_of_it(" that can be said in JSON");
  return std::move(json);
}

bool add_compiled(const pb::MessageLite& message, RegisteredTypes& to) {
  const auto* full = dynamic_cast<const pb::Message*>(&message);
  if (full == nullptr) return false;
  add_file_of(*full->GetDescriptor()->file(), to);
  return true;
}

std::string descriptor_set_of(const RegisteredTypes& types) {
  pb::FileDescriptorSet set;
  std::set<std::string> there;
  for (const auto& [name, bytes] : types.files) put_file(name, types, there, set);
  return deterministic_bytes(set);
}

}  // namespace evershard
