#include "evershard/doors/rpc/message_reader.hpp"

#include <cstdint>
#include <utility>

namespace evershard::rpc {

std::optional<std::size_t> MessageReader::length() const {
  if (bytes_.size() - at_ < head_bytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 1; i != head_bytes; ++i) length = length << 8 | static_cast<std::uint8_t>(bytes_[at_ + i]);
  return length;
}

std::optional<Bytes> MessageReader::next() {
  const auto bytes = length();
  if (!bytes || *bytes > most_ || bytes_.size() - at_ - head_bytes < *bytes) return std::nullopt;
  const bool compressed = bytes_[at_] != 0;
  Bytes message;
  if (at_ == 0 && bytes_.size() == head_bytes + *bytes && *bytes > head_bytes) {
    bytes_.erase(0, head_bytes);
    message = Bytes(std::exchange(bytes_, {}));
  } else {
    message = Bytes(bytes_.substr(at_ + head_bytes, *bytes));
    at_ += head_bytes + *bytes;
    if (at_ == bytes_.size()) {
      bytes_.clear();
      at_ = 0;
    }
  }
  message.is_compressed(compressed);
  return message;
}

std::size_t MessageReader::consumed(bool waited_for) {
  const std::size_t kept = waited_for ? 0 : bytes_.size() - at_;
  if (at_ != 0) {
    bytes_.erase(0, at_);
    at_ = 0;
  }
  if (held_ <= kept) return 0;
  return std::exchange(held_, kept) - kept;
}

}  // namespace evershard::rpc
