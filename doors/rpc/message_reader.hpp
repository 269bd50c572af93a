// MessageReader: messages out of the bytes of a call.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/doors/rpc/bytes.hpp"

namespace evershard::rpc {

/// Bytes that nobody has asked for yet count against the client's window; those of a message that is waited for do not.
class MessageReader {
 public:
  explicit MessageReader(std::size_t message_bytes_max) : most_(message_bytes_max) {}

  void add(std::string_view bytes) {
    bytes_.append(bytes);
    held_ += bytes.size();
  }
  /// The next message, where it is whole.
  [[nodiscard]] std::optional<Bytes> next();
  /// The next message is larger than it may be: nothing more is read.
  [[nodiscard]] bool is_too_large() const { return length() && *length() > most_; }
  /// There is a beginning of a message.
  [[nodiscard]] bool has_part() const { return at_ != bytes_.size(); }
  /// Bytes that need no room in the window any more. `waited_for`: somebody waits for the next message.
  [[nodiscard]] std::size_t consumed(bool waited_for);

 private:
  [[nodiscard]] std::optional<std::size_t> length() const;

  const std::size_t most_;
  std::string bytes_;
  std::size_t at_ = 0;    ///< what is before was given
  std::size_t held_ = 0;  ///< in the window
};

}  // namespace evershard::rpc
