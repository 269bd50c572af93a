#include "evershard/doors/settings/settings_file.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/nearest.hpp"

namespace evershard::settings {
namespace {

constexpr std::string_view file_blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(file_blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(file_blanks) - begin + 1);
}

/// Absent: a quote that does not end, or something behind it.
std::optional<std::string> quoted(std::string_view text) {
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) {
      value += text[++i];
    } else if (text[i] == '"') {
      const auto rest = trimmed(text.substr(i + 1));
      return rest.empty() || rest.front() == '#' ? std::optional(value) : std::nullopt;
    } else {
      value += text[i];
    }
  }
  return std::nullopt;
}

std::string plain(std::string_view text) {
  if (text.starts_with('#')) return {};
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '#' && file_blanks.find(text[i - 1]) != std::string_view::npos)
      return std::string(trimmed(text.substr(0, i)));
  }
  return std::string(text);
}

std::string hint_of(std::string_view word, const std::vector<std::string>& names) {
  const auto near = nearest(word, names);
  return near.empty() ? "" : "; did you mean " + near + "?";
}

class FileReading {
 public:
  FileReading(const Table& table, std::string_view name) : table_(table), name_(name) {
    for (const auto& setting : table) {
      keys_.push_back(setting.name);
      if (std::find(groups_.begin(), groups_.end(), setting.group) == groups_.end()) groups_.push_back(setting.group);
    }
  }

  Result<void> line(std::string_view text) {
    ++number_;
    text = trimmed(text);
    if (text.empty() || text.front() == '#') return {};
    if (text.front() == '[') return heading(text);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return wrong("neither KEY = VALUE nor [group]");
    return key(trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1)));
  }

  std::vector<Given> take() { return std::move(given_); }

 private:
  Refused wrong(const std::string& what) const { return refuse(ErrorCode::invalid_argument, where() + ": " + what); }
  std::string where() const { return std::string(name_) + ", line " + std::to_string(number_); }

  Result<void> heading(std::string_view text) {
    const auto plain_text = plain(text);
    if (!plain_text.ends_with(']')) return wrong("a group is [NAME]");
    group_ = trimmed(std::string_view(plain_text).substr(1, plain_text.size() - 2));
    if (std::find(groups_.begin(), groups_.end(), group_) == groups_.end())
      return wrong("there is no group " + in_quotes(group_) + hint_of(group_, groups_));
    return {};
  }

  Result<void> key(std::string_view key, std::string_view text) {
    const auto setting =
        std::find_if(table_.begin(), table_.end(), [&](const Setting& known) { return known.name == key; });
    if (setting == table_.end()) return wrong("there is no setting " + in_quotes(key) + hint_of(key, keys_));
    if (!group_.empty() && setting->group != group_)
      return wrong(setting->name + " belongs to [" + setting->group + "]");
    if (!seen_.insert(setting->name).second) return wrong(setting->name + " comes twice");
    const auto value = text.starts_with('"') ? quoted(text) : std::optional(plain(text));
    if (!value) return wrong(setting->name + ": the quotes do not end where the value does");
    given_.push_back({setting->name, *value, where()});
    return {};
  }

  const Table& table_;
  const std::string_view name_;
  std::vector<std::string> keys_;
  std::vector<std::string> groups_;
  std::vector<Given> given_;
  std::set<std::string> seen_;
  std::string group_;
  std::uint64_t number_ = 0;
};

}  // namespace

Result<std::vector<Given>> from_file(const Table& table, std::string_view text, std::string_view name) {
  FileReading reading(table, name);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    EVERSHARD_TRY(reading.line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reading.take();
}

}  // namespace evershard::settings
