// Settings for others: as JSON, and the table as a document and as a file to begin with.

#pragma once

#include <string>

#include "evershard/api/json/json_text.hpp"
#include "evershard/doors/settings/settings.hpp"

namespace evershard::settings {

/// `"settings":[{"name","value","default","source","sentence","group","reloadable"}]`; secrets are "***".
void write_settings_member(JsonText& json, const Settings& settings);

/// `{"settings":[...]}`
[[nodiscard]] std::string json_of(const Settings& settings);

/// A Markdown table a group.
[[nodiscard]] std::string markdown_of(const Table& table);
/// Every setting with its sentence and its default, commented out.
[[nodiscard]] std::string sample_file_of(const Table& table);

}  // namespace evershard::settings
