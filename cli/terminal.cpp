#include "evershard/cli/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "evershard/protocol/utf8.hpp"

namespace evershard::cli {
namespace {

std::size_t width_of(int descriptor) {
  struct winsize size {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Printable, one column a character: the controls of ASCII, and those of Latin-1 (0xC2 0x80..0x9F), become `?`.
std::string harmless(std::string_view text) {
  const bool utf8 = is_utf8(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool latin_control = utf8 && byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (latin_control) ++i;
    out += byte < 0x20 || byte == 0x7F || latin_control || (byte >= 0x80 && !utf8) ? '?' : text[i];
  }
  return out;
}

}  // namespace

std::optional<Format> format_of(std::string_view name) {
  if (name == "table") return Format::table;
  if (name == "json") return Format::json;
  if (name == "jsonl") return Format::jsonl;
  return std::nullopt;
}

Terminal Terminal::look() {
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) < 0) std::_Exit(1);
  }
  Terminal terminal;
  terminal.output = ::isatty(STDOUT_FILENO) == 1;
  terminal.error = ::isatty(STDERR_FILENO) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  terminal.colours = terminal.output && (no_colour == nullptr || *no_colour == '\0') &&
                     (kind == nullptr || std::string_view(kind) != "dumb");
  if (terminal.output) terminal.width = width_of(STDOUT_FILENO);
  return terminal;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (const char c : text) columns += continues(c) ? 0 : 1;
  return columns;
}

std::string fitted(std::string_view text, std::size_t columns) {
  std::string shown = harmless(text);
  if (columns_of(shown) <= columns) return shown;
  if (columns == 0) return {};
  std::size_t end = 0;
  for (std::size_t taken = 0; end < shown.size(); ++end) {
    if (continues(shown[end])) continue;
    if (taken++ == columns - 1) break;
  }
  shown.resize(end);
  return shown + "\u2026";
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

}  // namespace evershard::cli
