#include "evershard/protocol/hex.hpp"

namespace evershard {

std::string hex(std::string_view bytes, std::size_t bytes_max) {
  const std::string_view shown = bytes.substr(0, bytes_max);
  std::string text;
  text.reserve(2 * shown.size() + 3);
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    text += hex_digits[byte >> 4];
    text += hex_digits[byte & 15];
  }
  if (shown.size() < bytes.size()) text += "...";
  return text;
}

std::optional<std::string> bytes_of_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = value_of_hex(text[i]), low = value_of_hex(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

}  // namespace evershard
