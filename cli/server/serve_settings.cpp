#include "evershard/cli/server/serve_settings.hpp"

#include <unistd.h>

#include <cstdlib>

#include "evershard/api/json/input.hpp"
#include "evershard/cli/table.hpp"
#include "evershard/doors/server/server_settings.hpp"
#include "evershard/doors/settings/settings_file.hpp"
#include "evershard/doors/settings/settings_text.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

using settings::Given;
using settings::Kind;
using settings::Setting;

constexpr std::size_t settings_file_bytes_max = 1u << 20;

/// On the command line it stands alone: `--insecure`.
bool is_bare(const Setting& setting) { return setting.kind == Kind::yes_no && setting.by_default == "no"; }

std::vector<Given> from_flags(const Arguments& arguments, const settings::Table& table) {
  std::vector<Given> given;
  for (const auto& setting : table) {
    for (const auto& text : arguments.texts(setting.name))
      given.push_back({setting.name, is_bare(setting) ? "yes" : text, "flag --" + setting.name});
  }
  return given;
}

std::vector<std::pair<std::string, std::string>> environment_variables() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view text = *at;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Result<std::vector<Given>> from_named_file(const Arguments& arguments, const settings::Table& table) {
  auto name = arguments.text("config").value_or("");
  if (const char* set = std::getenv("EVERSHARD_CONFIG"); name.empty() && set != nullptr) name = set;
  if (name.empty()) return std::vector<Given>{};
  if (name == "-")
    return refuse(ErrorCode::invalid_argument, "the configuration must be a file: it is read again at SIGHUP");
  auto file = Input::open(name);
  auto text = file ? file->read_all(settings_file_bytes_max) : Result<std::string>(refuse(file.error()));
  if (!text) return refuse(text.error().code, "the configuration cannot be read: " + text.error().what);
  return settings::from_file(table, *text, name);
}

}  // namespace

Result<settings::Settings> effective_settings(const Arguments& arguments, const settings::Table& table) {
  auto environment = settings::from_environment(table, environment_variables(), server::client_variables());
  if (!environment) return refuse(std::move(environment).error());
  auto file = from_named_file(arguments, table);
  if (!file) return refuse(std::move(file).error());
  return settings::Settings::gather(table, from_flags(arguments, table), environment->given, *file);
}

std::vector<std::string> unknown_variables(const settings::Table& table) {
  auto environment = settings::from_environment(table, environment_variables(), server::client_variables());
  return environment ? std::move(environment->unknown) : std::vector<std::string>{};
}

void print_settings(const Invocation& invocation, const settings::Settings& settings) {
  if (!invocation.for_people()) {
    invocation.out.write(settings::json_of(settings) + '\n');
    return;
  }
  Table table(invocation.out, invocation.terminal, {{"GROUP"}, {"SETTING"}, {"VALUE"}, {"SOURCE"}});
  for (const auto& entry : settings.entries())
    table.row({entry.setting.group, entry.setting.name, entry.shown(), entry.where});
  table.flush();
}

void log_settings(const settings::Settings& settings, serving::Log& log) {
  for (const auto& entry : settings.entries()) {
    if (!entry.is_default())
      log.info("setting", {{"name", entry.setting.name}, {"value", entry.shown()}, {"source", entry.where}});
  }
}

Options settings_options(const settings::Table& table) {
  Options options;
  options.value("config", "FILE", "a file of settings; else EVERSHARD_CONFIG");
  for (const auto& setting : table) {
    if (is_bare(setting)) {
      options.flag(setting.name.c_str(), setting.sentence.c_str());
      continue;
    }
    if (setting.kind == Kind::list)
      options.values(setting.name.c_str(), settings::placeholder_of(setting).c_str(),
                     (setting.sentence + " Default: " + setting.by_default + ".").c_str());
    else
      options.value(setting.name.c_str(), settings::placeholder_of(setting).c_str(), setting.sentence.c_str(),
                    setting.by_default);
    options.such_as(setting.kind == Kind::yes_no ? std::vector<std::string>{"yes", "no"} : setting.choices);
  }
  options.flag("check", "print the settings in force, where each comes from and what is wrong, then end")
      .flag("sample-config", "print a configuration file with every setting, then end")
      .flag("help-markdown", "print docs/configuration.md, then end");
  return options;
}

}  // namespace evershard::cli
