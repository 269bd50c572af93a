#include "evershard/api/json/registered_types.hpp"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/stubs/logging.h>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard {
namespace {

namespace pb = google::protobuf;

Refused no_set(std::string_view name, const std::string& why) {
  return refuse(ErrorCode::invalid_argument,
                in_quotes(name, 300) + " is no descriptor set: " + why +
                    "; make one with `protoc --include_imports --descriptor_set_out=FILE.pb ...`");
}

bool of_protobuf_itself(std::string_view file) { return file.starts_with("google/protobuf/"); }

Result<void> check_names(const std::map<std::string, std::string>& known,
                         const std::map<std::string, std::string>& more, const char* what) {
  for (const auto& [name, message] : more) {
    const auto at = known.find(name);
    if (at == known.end() || at->second == message) continue;
    return refuse(ErrorCode::invalid_argument,
                  std::string(what) + ' ' + in_quotes(name) + " is " + at->second + " already, not " + message);
  }
  return {};
}

void put(std::map<std::string, std::string>& to, const std::map<std::string, std::string>& more) {
  for (const auto& [name, value] : more) to.insert_or_assign(name, value);
}

}  // namespace

Result<RegisteredTypes> read_descriptor_set(std::string_view bytes, std::string_view name) {
  const pb::LogSilencer silent;  // it would complain on standard error
  pb::FileDescriptorSet set;
  if (bytes.empty()) return no_set(name, "it is empty");
  if (bytes.size() > descriptor_set_bytes_max) {
    return refuse(ErrorCode::too_large,
                  in_quotes(name, 300) + " has more than " + std::to_string(descriptor_set_bytes_max) + " bytes");
  }
  if (!set.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return no_set(name, "it does not parse, or is cut short");
  if (set.file_size() == 0) return no_set(name, "it has no file in it");

  RegisteredTypes types;
  for (auto& file : *set.mutable_file()) {
    // Whatever is read as a message of the wrong kind ends up in fields it does not have.
    if (file.name().empty() || !is_utf8(file.name())) return no_set(name, "a file in it has no name");
    file.clear_source_code_info();
    const std::string file_name = file.name();
    const auto [at, first] = types.files.try_emplace(file_name, file.SerializeAsString());
    if (!first) return no_set(name, "it has two files named " + in_quotes(file_name));
  }
  return types;
}

Result<void> merge(RegisteredTypes& types, const RegisteredTypes& more, Clash clash) {
  if (clash == Clash::refused) {
    for (const auto& [name, file] : more.files) {
      const auto at = types.files.find(name);
      if (at == types.files.end() || at->second == file || of_protobuf_itself(name)) continue;
      return refuse(ErrorCode::invalid_argument,
                    "another file named " + in_quotes(name, 300) + " is registered already");
    }
    EVERSHARD_TRY(check_names(types.aliases, more.aliases, "event type"));
    EVERSHARD_TRY(check_names(types.states, more.states, "the state of"));
  }
  for (const auto& [name, file] : more.files) {
    if (clash == Clash::refused && of_protobuf_itself(name))
      types.files.try_emplace(name, file);
    else
      types.files.insert_or_assign(name, file);
  }
  put(types.aliases, more.aliases);
  put(types.states, more.states);
  return {};
}

}  // namespace evershard
