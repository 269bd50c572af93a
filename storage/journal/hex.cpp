#include "evershard/storage/journal/hex.hpp"

namespace evershard::storage {

std::string hex(std::string_view bytes, std::size_t bytes_max) {
  constexpr char digits[] = "0123456789abcdef";
  const std::string_view shown = bytes.substr(0, bytes_max);
  std::string text;
  text.reserve(2 * shown.size() + 3);
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  if (shown.size() < bytes.size()) text += "...";
  return text;
}

}  // namespace evershard::storage
