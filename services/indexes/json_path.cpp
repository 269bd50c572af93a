#include "evershard/services/indexes/json_path.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::actors {
namespace {

constexpr std::size_t path_bytes_max = 512;
constexpr std::size_t path_steps_max = 16;
constexpr std::size_t json_depth_max = 512;

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::optional<std::uint32_t> four_hex(std::string_view at) {
  std::uint32_t value = 0;
  if (at.size() < 4) return {};
  const auto [end, error] = std::from_chars(at.data(), at.data() + 4, value, 16);
  if (error != std::errc{} || end != at.data() + 4) return {};
  return value;
}

/// Of the paths: a bit each.
using PathSet = std::uint64_t;

/// Strict JSON, once through; paths whose steps match so far are followed.
class PathWalk {
 public:
  PathWalk(std::string_view json, std::span<const JsonPath* const> paths,
           std::span<std::optional<std::string_view>> found)
      : at_(json.data()), end_(json.data() + json.size()), paths_(paths), found_(found) {}

  bool run() {
    const PathSet all = paths_.size() == json_paths_max ? ~PathSet{0} : (PathSet{1} << paths_.size()) - 1;
    spaces();
    if (!value(all, 0)) return false;
    spaces();
    return at_ == end_;
  }

 private:
  void spaces() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view expected) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  bool digits() {
    const char* begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ != begin;
  }
  bool number() {
    take('-');
    if (take('0')) {
      if (at_ != end_ && *at_ >= '0' && *at_ <= '9') return false;
    } else if (!digits()) {
      return false;
    }
    if (take('.') && !digits()) return false;
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (at_ != end_) {
      const char c = *at_++;
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') continue;
      if (at_ == end_) return false;
      const char escaped = *at_++;
      if (escaped == 'u') {
        if (!four_hex(std::string_view(at_, static_cast<std::size_t>(end_ - at_)))) return false;
        at_ += 4;
      } else if (std::string_view("\"\\/bfnrt").find(escaped) == std::string_view::npos) {
        return false;
      }
    }
    return false;
  }

  /// `active`: the paths that lead here, through `depth` steps.
  bool value(PathSet active, std::size_t depth) {
    if (at_ == end_ || depth > json_depth_max) return false;
    const char* begin = at_;
    bool good = false;
    switch (*at_) {
      case '{':
        good = object(active, depth);
        break;
      case '[':
        good = array(active, depth);
        break;
      case '"':
        good = string();
        break;
      case 't':
        good = word("true");
        break;
      case 'f':
        good = word("false");
        break;
      case 'n':
        good = word("null");
        break;
      default:
        good = number();
        break;
    }
    if (!good) return false;
    each(active, [&](std::size_t path) {
      if (paths_[path]->steps.size() == depth)
        found_[path] = std::string_view(begin, static_cast<std::size_t>(at_ - begin));
    });
    return true;
  }

  template <class See>
  static void each(PathSet paths, const See& see) {
    for (; paths != 0; paths &= paths - 1) see(static_cast<std::size_t>(std::countr_zero(paths)));
  }

  bool object(PathSet active, std::size_t depth) {
    ++at_;
    spaces();
    if (take('}')) return true;
    do {
      spaces();
      const char* begin = at_;
      if (!string()) return false;
      const std::string_view raw(begin, static_cast<std::size_t>(at_ - begin));
      const PathSet deeper = active == 0 ? 0 : follow(active, depth, raw);
      spaces();
      if (!take(':')) return false;
      spaces();
      if (!value(deeper, depth + 1)) return false;
      spaces();
    } while (take(','));
    return take('}');
  }

  PathSet follow(PathSet active, std::size_t depth, std::string_view raw) {
    std::string held;
    std::string_view key = raw.substr(1, raw.size() - 2);
    if (key.find('\\') != std::string_view::npos) {
      held = unescaped(raw);
      key = held;
    }
    PathSet deeper = 0;
    each(active, [&](std::size_t path) {
      if (paths_[path]->steps.size() <= depth) return;
      const auto* name = std::get_if<std::string>(&paths_[path]->steps[depth]);
      if (name == nullptr || *name != key) return;
      found_[path].reset();  // what an earlier key of that name had is not this one's
      deeper |= PathSet{1} << path;
    });
    return deeper;
  }

  bool array(PathSet active, std::size_t depth) {
    ++at_;
    spaces();
    if (take(']')) return true;
    std::size_t index = 0;
    do {
      PathSet deeper = 0;
      each(active, [&](std::size_t path) {
        if (paths_[path]->steps.size() <= depth) return;
        const auto* wanted = std::get_if<std::size_t>(&paths_[path]->steps[depth]);
        if (wanted != nullptr && *wanted == index) deeper |= PathSet{1} << path;
      });
      spaces();
      if (!value(deeper, depth + 1)) return false;
      ++index;
      spaces();
    } while (take(','));
    return take(']');
  }

  const char* at_;
  const char* end_;
  std::span<const JsonPath* const> paths_;
  std::span<std::optional<std::string_view>> found_;
};

Refused no_path(std::string_view text, std::size_t at, std::string_view why) {
  return refuse(ErrorCode::invalid_argument,
                "path " + in_quotes(text) + ", at byte " + std::to_string(at) + ": " + std::string(why));
}

/// Without quotes it reads as a name: not as the number of an element.
bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_bare) &&
         !std::all_of(name.begin(), name.end(), is_digit);
}

/// What `items.0.sku` and `/items/0/sku` are here. Nothing: there is no telling.
std::optional<std::string> spelt_right(std::string_view text) {
  const bool pointer = text.starts_with('/');
  const char between = pointer ? '/' : '.';
  JsonPath path;
  for (std::size_t at = pointer ? 1 : 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    std::string step;
    for (; at < end; ++at) {
      const bool escape = pointer && text[at] == '~' && at + 1 < end && (text[at + 1] == '0' || text[at + 1] == '1');
      step += escape ? (text[++at] == '0' ? '~' : '/') : text[at];
    }
    at = end + 1;
    if (step.empty() || path.steps.size() == path_steps_max) return {};
    std::uint32_t index = 0;
    const auto [stop, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    if (error == std::errc{} && stop == step.data() + step.size())
      path.steps.emplace_back(std::size_t{index});
    else
      path.steps.emplace_back(std::move(step));
  }
  return path.text();
}

}  // namespace

Result<JsonPath> JsonPath::parse(std::string_view text) {
  if (text.size() > path_bytes_max)
    return refuse(ErrorCode::too_large, "a path has at most " + std::to_string(path_bytes_max) + " bytes");
  if (!is_utf8(text)) return no_path(text, 0, "it is not UTF-8");
  if (!text.starts_with('$')) {
    const auto right = spelt_right(text);
    return no_path(
        text, 0,
        right ? "it begins with $: it is written " + *right : std::string("it begins with $, such as $.items[0].sku"));
  }
  JsonPath path;
  for (std::size_t at = 1; at < text.size();) {
    if (path.steps.size() == path_steps_max)
      return no_path(text, at, "it has more than " + std::to_string(path_steps_max) + " steps");
    if (text[at] == '.') {
      const std::size_t begin = ++at;
      while (at < text.size() && is_bare(text[at])) ++at;
      if (at == begin) return no_path(text, at, "a name follows the dot; an odd one stands as ['name']");
      const auto name = text.substr(begin, at - begin);
      if (std::all_of(name.begin(), name.end(), is_digit)) {
        return no_path(text, begin,
                       "an element of a list is [" + std::string(name) + "], a member of that name is ['" +
                           std::string(name) + "']");
      }
      path.steps.emplace_back(std::string(name));
      continue;
    }
    if (text[at] != '[') return no_path(text, at, "a step is .name, [number] or ['name']");
    ++at;
    if (at < text.size() && (text[at] == '\'' || text[at] == '"')) {
      const char quote = text[at++];
      std::string name;
      for (; at < text.size() && text[at] != quote; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        name += text[at];
      }
      if (at >= text.size()) return no_path(text, at, "the quotation mark is missing");
      ++at;
      path.steps.emplace_back(std::move(name));
    } else {
      std::uint32_t index = 0;
      const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), index);
      if (error != std::errc{}) return no_path(text, at, "a number, or a name in quotation marks, stands in brackets");
      at = static_cast<std::size_t>(end - text.data());
      path.steps.emplace_back(std::size_t{index});
    }
    if (at >= text.size() || text[at] != ']') return no_path(text, at, "the bracket is not closed");
    ++at;
  }
  return path;
}

std::string JsonPath::text() const {
  std::string text = "$";
  for (const Step& step : steps) {
    if (const auto* index = std::get_if<std::size_t>(&step)) {
      text += '[' + std::to_string(*index) + ']';
      continue;
    }
    const auto& name = std::get<std::string>(step);
    if (is_plain_name(name)) {
      text += '.' + name;
      continue;
    }
    text += "['";
    for (const char c : name) {
      if (c == '\'' || c == '\\') text += '\\';
      text += c;
    }
    text += "']";
  }
  return text;
}

bool find_paths(std::string_view json, std::span<const JsonPath* const> paths,
                std::span<std::optional<std::string_view>> found) {
  std::fill(found.begin(), found.end(), std::nullopt);
  EVERSHARD_CHECK(paths.size() <= json_paths_max, "each path is a bit");
  return is_utf8(json) && PathWalk(json, paths, found).run();
}

bool is_json_text(std::string_view bytes) { return find_paths(bytes, {}, {}); }

namespace {

constexpr std::uint32_t replacement = 0xFFFD;
constexpr bool is_high_half(std::uint32_t c) { return c >= 0xD800 && c < 0xDC00; }
constexpr bool is_low_half(std::uint32_t c) { return c >= 0xDC00 && c < 0xE000; }

/// Of the escape `\u....` whose digits begin at `at`: the other half behind it, where that is the low one.
std::optional<std::uint32_t> low_half_behind(std::string_view raw, std::size_t at) {
  if (at + 10 > raw.size() || raw.substr(at + 4, 2) != "\\u") return std::nullopt;
  const auto low = four_hex(raw.substr(at + 6));
  return low && is_low_half(*low) ? low : std::nullopt;
}

}  // namespace

std::string unescaped(std::string_view raw) {
  std::string text;
  text.reserve(raw.size() - 2);
  for (std::size_t at = 1; at + 1 < raw.size(); ++at) {
    if (raw[at] != '\\') {
      text += raw[at];
      continue;
    }
    switch (raw[++at]) {
      case 'b':
        text += '\b';
        break;
      case 'f':
        text += '\f';
        break;
      case 'n':
        text += '\n';
        break;
      case 'r':
        text += '\r';
        break;
      case 't':
        text += '\t';
        break;
      case 'u': {
        std::uint32_t c = *four_hex(raw.substr(at + 1));
        const auto low = is_high_half(c) ? low_half_behind(raw, at + 1) : std::nullopt;
        at += 4;
        if (low) {
          c = 0x10000 + ((c - 0xD800) << 10) + (*low - 0xDC00);
          at += 6;
        }
        append_utf8(text, is_high_half(c) || is_low_half(c) ? replacement : c);
        break;
      }
      default:
        text += raw[at];
        break;
    }
  }
  return text;
}

std::optional<std::string> without_half_surrogates(std::string_view json) {
  std::optional<std::string> mended;
  for (std::size_t at = json.find('\\'); at != std::string_view::npos; at = json.find('\\', at)) {
    const auto c = json.substr(at + 1, 1) == "u" ? four_hex(json.substr(at + 2)) : std::nullopt;
    if (!c) {
      at += 2;  // another escape, or no JSON
      continue;
    }
    if (is_high_half(*c) && low_half_behind(json, at + 2)) {
      at += 12;
      continue;
    }
    if (is_high_half(*c) || is_low_half(*c)) {
      if (!mended) mended = std::string(json);
      mended->replace(at, 6, "\\ufffd");
    }
    at += 6;
  }
  return mended;
}

void append_json_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += hex[static_cast<unsigned char>(c) >> 4];
      out += hex[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace evershard::actors
