#include "evershard/doors/settings/settings_text.hpp"

#include <algorithm>

namespace evershard::settings {
namespace {

std::string in_table(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

std::string values_of(const Setting& setting) {
  std::string text = placeholder_of(setting);
  const bool figure = setting.kind == Kind::number || setting.kind == Kind::size || setting.kind == Kind::duration;
  if (figure && setting.least != 0) text += ", from " + text_of_figure(setting.kind, setting.least);
  if (figure && setting.most != Setting{}.most) text += ", up to " + text_of_figure(setting.kind, setting.most);
  return text;
}

}  // namespace

void write_settings_member(JsonText& json, const Settings& settings) {
  json.key("settings").begin_array();
  for (const auto& entry : settings.entries()) {
    json.begin_object().key("name").string(entry.setting.name).key("value").string(entry.shown());
    json.key("default")
        .string(entry.setting.by_default)
        .key("source")
        .string(entry.where)
        .key("group")
        .string(entry.setting.group);
    json.key("sentence")
        .string(entry.setting.sentence)
        .key("reloadable")
        .boolean(entry.setting.reloadable)
        .end_object();
  }
  json.end_array();
}

std::string json_of(const Settings& settings) {
  JsonText json;
  json.begin_object();
  write_settings_member(json, settings);
  return json.end_object().take();
}

std::string markdown_of(const Table& table) {
  std::string text, group;
  for (const auto& setting : table) {
    if (setting.group != group) {
      group = setting.group;
      text += "\n## " + group + "\n\n| setting | value | default | |\n| --- | --- | --- | --- |\n";
    }
    text += "| `" + setting.name + "` | " + in_table(values_of(setting)) + " | " +
            (setting.by_default.empty() ? "" : '`' + setting.by_default + '`') + " | ";
    text += in_table(setting.sentence) + (setting.reloadable ? " (reloadable)" : "") + " |\n";
  }
  return text;
}

std::string sample_file_of(const Table& table) {
  std::string text, group;
  for (const auto& setting : table) {
    if (setting.group != group) text += (group.empty() ? "[" : "\n[") + (group = setting.group) + "]\n";
    text += "# " + setting.sentence + "\n#" + setting.name + " = " + setting.by_default + "\n";
  }
  return text;
}

}  // namespace evershard::settings
