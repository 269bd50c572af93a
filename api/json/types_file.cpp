#include "evershard/api/json/types_file.hpp"

#include <sys/stat.h>
#include <xxhash.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "evershard/api/json/input.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/api/json/output.hpp"
#include "evershard/api/json/output_file.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/files/synced.hpp"

namespace evershard {
namespace {

constexpr std::string_view head = "evershard types ";  // then the version, a space, the checksum, a line break
constexpr unsigned version = 1;
constexpr std::size_t file_bytes_max = 4 * descriptor_set_bytes_max;

std::filesystem::path path_in(const std::filesystem::path& data_dir) { return data_dir / "TYPES"; }

std::string checksum_of(std::string_view body) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(XXH64(body.data(), body.size(), 0)));
  return text;
}

Result<void> read_texts(const JsonValue& from, std::map<std::string, std::string>& to) {
  return from.for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    auto text = value.string();
    if (!text) return refuse(std::move(text).error());
    to.emplace(key, std::move(*text));
    return {};
  });
}

Result<void> read_body(std::string_view body, RegisteredTypes& types) {
  auto root = JsonValue::parse(body);
  if (!root) return refuse(std::move(root).error());
  return root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "aliases") return read_texts(value, types.aliases);
    if (key == "states") return read_texts(value, types.states);
    if (key != "files") return root->unknown_key(key, {"files", "aliases", "states"});
    EVERSHARD_TRY(read_texts(value, types.files));
    for (auto& [name, file] : types.files) {
      auto bytes = from_base64(file);
      if (!bytes) return value.wrong(in_quotes(name) + " is no base64");
      file = std::move(*bytes);
    }
    return {};
  });
}

}  // namespace

void write_names(JsonText& json, std::string_view key, const std::map<std::string, std::string>& names) {
  json.key(key).begin_object();
  for (const auto& [name, message] : names) json.key(name).string(message);
  json.end_object();
}

std::string encode_types(const RegisteredTypes& types) {
  JsonText json;
  json.begin_object().key("files").begin_object();
  for (const auto& [name, file] : types.files) json.key(name).string(to_base64(file));
  json.end_object();
  write_names(json, "aliases", types.aliases);
  write_names(json, "states", types.states);
  const std::string body = json.end_object().take() + '\n';
  return std::string(head) + std::to_string(version) + ' ' + checksum_of(body) + '\n' + body;
}

Result<RegisteredTypes> decode_types(std::string_view bytes, std::string_view name) {
  const auto damaged = [&](const std::string& why) {
    return refuse(ErrorCode::corruption, in_quotes(name, 300) + " is damaged: " + why);
  };
  const auto end = bytes.find('\n');
  if (end == std::string_view::npos || !bytes.starts_with(head))
    return damaged("its first line is not that of registered types");
  const std::string_view line = bytes.substr(head.size(), end - head.size());
  const std::string_view body = bytes.substr(end + 1);

  unsigned written = 0;
  const auto [space, error] = std::from_chars(line.data(), line.data() + line.size(), written);
  if (error != std::errc{} || written == 0 || space == line.data() + line.size() || *space != ' ')
    return damaged("its first line has no version");
  if (written > version) {
    return refuse(ErrorCode::invalid_argument, in_quotes(name, 300) + " has version " + std::to_string(written) +
                                                   "; this program knows " + std::to_string(version));
  }
  if (line.substr(static_cast<std::size_t>(space + 1 - line.data())) != checksum_of(body))
    return damaged("its checksum does not hold");
  RegisteredTypes types;
  if (auto read = read_body(body, types); !read) return damaged(read.error().what);
  return types;
}

Result<RegisteredTypes> load_types(const std::filesystem::path& data_dir) {
  const std::string path = path_in(data_dir).string();
  auto file = Input::open(path);
  if (!file && file.error().code == ErrorCode::not_found) return RegisteredTypes{};
  if (!file) return refuse(std::move(file).error());
  auto bytes = file->read_all(file_bytes_max);
  if (!bytes) return refuse(bytes.error().code, in_quotes(path, 300) + ": " + bytes.error().what);
  return decode_types(*bytes, path);
}

std::optional<TypesStamp> types_stamp(const std::filesystem::path& data_dir) {
  struct stat found {};
  if (::stat(path_in(data_dir).c_str(), &found) != 0)
    return errno == ENOENT ? std::optional(TypesStamp{}) : std::nullopt;
  return TypesStamp{found.st_ino, static_cast<std::uint64_t>(found.st_size), found.st_ctim.tv_sec,
                    found.st_ctim.tv_nsec};
}

Result<void> save_types(const std::filesystem::path& data_dir, const RegisteredTypes& types) {
  const std::string path = path_in(data_dir).string();
  if (types.empty()) {
    if (std::remove(path.c_str()) != 0 && errno != ENOENT) {
      return refuse(ErrorCode::io, in_quotes(path, 300) + " cannot be removed: " + std::strerror(errno));
    }
    return storage::sync_folder_of(path);
  }
  auto file = OutputFile::open(path);
  if (!file) return refuse(std::move(file).error());
  Output out(file->descriptor());
  out.write(encode_types(types));
  out.flush();
  EVERSHARD_TRY(out.status());
  return file->keep();
}

}  // namespace evershard
