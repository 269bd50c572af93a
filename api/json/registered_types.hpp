// RegisteredTypes: which messages a store's payloads are: .proto files as protoc described them, and the names that
// stand for them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard {

struct RegisteredTypes {
  std::map<std::string, std::string>
      files{};  ///< name of a .proto file -> its FileDescriptorProto, serialised, without comments
  std::map<std::string, std::string>
      aliases{};  ///< stored event type -> message; without one, the message of the same full name
  std::map<std::string, std::string> states{};  ///< aggregate type -> message of its snapshots

  [[nodiscard]] bool empty() const { return files.empty() && aliases.empty() && states.empty(); }
  friend bool operator==(const RegisteredTypes&, const RegisteredTypes&) = default;
};

inline constexpr std::size_t descriptor_set_bytes_max = 16u << 20;

/// A FileDescriptorSet, as `protoc --descriptor_set_out --include_imports` writes it. `name`: where it is from, for
/// errors.
///
/// Errors: invalid_argument (garbage, cut short, empty, a file without a name, two files of one name)
[[nodiscard]] Result<RegisteredTypes> read_descriptor_set(std::string_view bytes, std::string_view name);

enum class Clash : std::uint8_t {
  refused,
  newer_wins,
};

/// Puts `more` into `types`. What is there already and means the same is no clash, nor are Protobuf's own files of
/// another release: those that are there stay.
///
/// Errors: invalid_argument: a file or name that means something else already; `types` is unchanged
[[nodiscard]] Result<void> merge(RegisteredTypes& types, const RegisteredTypes& more, Clash clash);

}  // namespace evershard
