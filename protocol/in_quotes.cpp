#include "evershard/protocol/in_quotes.hpp"

#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string in_quotes(std::string_view bytes, std::size_t bytes_max) {
  const bool cut = bytes.size() > bytes_max;
  if (cut) {
    std::size_t end = bytes_max;
    // Not through the middle of a character: at most three bytes of it lie before the cut.
    for (int i = 0; i < 3 && end > 0 && continues(bytes[end]); ++i) --end;
    bytes = bytes.substr(0, end);
  }

  const bool text = is_utf8(bytes);
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !text)) {
      out += "\\x";
      out += hex_digits[byte >> 4];
      out += hex_digits[byte & 15];
    } else {
      out += c;
    }
  }
  out += cut ? "...\"" : "\"";
  return out;
}

}  // namespace evershard
