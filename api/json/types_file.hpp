// The file TYPES of a store: what `evershard types add` registered.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/json/registered_types.hpp"

namespace evershard {

/// Errors: corruption (damaged), invalid_argument (written by a newer program), io. A store without the file has no
/// types. Source: docs/internals/on-disk-format.md, "TYPES"
[[nodiscard]] Result<RegisteredTypes> load_types(const std::filesystem::path& data_dir);

/// In one step; no types: the file goes. The store is open, so that nobody else does it at the same time.
///
/// Errors:  io
/// Durable: on return.
[[nodiscard]] Result<void> save_types(const std::filesystem::path& data_dir, const RegisteredTypes& types);

/// Which file lies there: another one behind each save_types.
struct TypesStamp {
  std::uint64_t file = 0, bytes = 0;  ///< its inode; 0: there is none
  std::int64_t changed_s = 0, changed_ns = 0;

  friend bool operator==(const TypesStamp&, const TypesStamp&) = default;
};
/// Absent: it cannot be told. Cost: one look at the directory; nothing is read
[[nodiscard]] std::optional<TypesStamp> types_stamp(const std::filesystem::path& data_dir);

/// A member of the object that is begun: what stands for which message.
void write_names(JsonText& json, std::string_view key, const std::map<std::string, std::string>& names);

/// The file's bytes.
[[nodiscard]] std::string encode_types(const RegisteredTypes& types);
/// `name`: of the file, for errors. Errors: corruption, invalid_argument
[[nodiscard]] Result<RegisteredTypes> decode_types(std::string_view bytes, std::string_view name);

}  // namespace evershard
