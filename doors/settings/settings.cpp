#include "evershard/doors/settings/settings.hpp"

#include <algorithm>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/nearest.hpp"

namespace evershard::settings {
namespace {

bool of_kubernetes(std::string_view variable) {
  return variable.starts_with("EVERSHARD_SERVICE_") || variable == "EVERSHARD_PORT" ||
         variable.starts_with("EVERSHARD_PORT_");
}

Result<void> put(std::vector<Settings::Entry>& entries, const std::vector<Given>& source) {
  std::vector<std::string> seen;
  for (const auto& given : source) {
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto& known) { return known.setting.name == given.name; });
    if (entry == entries.end())
      return refuse(ErrorCode::invalid_argument, given.where + ": there is no setting " + given.name);
    auto value = value_of(entry->setting, given.text);
    if (!value) return refuse(ErrorCode::invalid_argument, given.where + ": " + value.error().what);
    const bool again = std::find(seen.begin(), seen.end(), given.name) != seen.end();
    if (again && entry->setting.kind == Kind::list) {
      value->list.insert(value->list.begin(), entry->value.list.begin(), entry->value.list.end());
      value->text = text_of_list(value->list);
    }
    entry->value = *std::move(value);
    entry->where = given.where;
    seen.push_back(given.name);
  }
  return {};
}

}  // namespace

Result<Environment> from_environment(const Table& table,
                                     const std::vector<std::pair<std::string, std::string>>& variables,
                                     const std::vector<std::string>& not_ours) {
  std::vector<std::string> names;
  for (const auto& setting : table) names.push_back(environment_name(setting.name));
  Environment environment;
  for (const auto& [variable, text] : variables) {
    if (!variable.starts_with("EVERSHARD_") || text.empty()) continue;
    if (std::find(not_ours.begin(), not_ours.end(), variable) != not_ours.end() || of_kubernetes(variable)) continue;
    const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), variable) - names.begin());
    if (at == names.size()) {
      const auto near = nearest(variable, names);
      if (!near.empty())
        return refuse(ErrorCode::invalid_argument,
                      "environment " + variable + ": there is no such setting; did you mean " + near + "?");
      environment.unknown.push_back(variable);
      continue;
    }
    environment.given.push_back({table[at].name, text, "environment " + variable});
  }
  return environment;
}

std::string Settings::Entry::shown() const { return setting.secret && !value.text.empty() ? "***" : value.text; }

Result<Settings> Settings::gather(const Table& table, const std::vector<Given>& flags,
                                  const std::vector<Given>& environment, const std::vector<Given>& file) {
  Settings settings;
  for (const auto& setting : table) {
    auto value = setting.by_default.empty() ? Result<Value>(Value{}) : value_of(setting, setting.by_default);
    EVERSHARD_CHECK(value.has_value(), "a default is what its setting takes");
    settings.entries_.push_back({setting, *std::move(value), "default"});
  }
  for (const auto* source : {&file, &environment, &flags}) EVERSHARD_TRY(put(settings.entries_, *source));
  return settings;
}

void Settings::adopt(std::string_view name, const Settings& now) {
  const auto& entry = now.at(name);
  for (auto& mine : entries_) {
    if (mine.setting.name == name) mine = entry;
  }
}

const Settings::Entry& Settings::at(std::string_view name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.setting.name == name; });
  EVERSHARD_CHECK(found != entries_.end(), "only settings of the table are asked for");
  return *found;
}

std::vector<std::string> changed(const Settings& before, const Settings& now) {
  std::vector<std::string> names;
  for (const auto& entry : now.entries()) {
    if (before.value(entry.setting.name).text != entry.value.text) names.push_back(entry.setting.name);
  }
  return names;
}

}  // namespace evershard::settings
