// Where a process's log goes, and what is in it: settings of every process that serves.

#pragma once

#include <string>

#include "evershard/doors/serving/log.hpp"
#include "evershard/doors/settings/bound_table.hpp"

namespace evershard::server {

/// A group, of options that have them as `log`.
template <class Options>
void add_log(settings::BoundTable<Options>& all) {
  using settings::Kind;
  using settings::Value;
  typename settings::BoundTable<Options>::Group log(all, "log");
  const serving::LogOptions defaults;
  auto& level = log.add("log-level", Kind::choice, "What is logged: this, and what is worse.",
                        std::string(name_of(defaults.level)), [](Options& options, const Value& value) {
                          for (const auto one : {serving::LogLevel::debug, serving::LogLevel::info,
                                                 serving::LogLevel::warning, serving::LogLevel::error}) {
                            if (value.text == name_of(one)) options.log.level = one;
                          }
                        });
  level.choices = {"debug", "info", "warning", "error"};
  level.reloadable = true;
  auto& format =
      log.add("log-format", Kind::choice, "Lines for people, or a JSON object a line.",
              defaults.format == serving::LogFormat::json ? "json" : "text", [](Options& options, const Value& value) {
                options.log.format = value.text == "json" ? serving::LogFormat::json : serving::LogFormat::text;
              });
  format.choices = {"text", "json"};
  log.path("log-file", "Where the log goes; without it, to standard error. SIGHUP opens it anew.",
           EVERSHARD_SETTING_FIELD(Options, log.file));
}

}  // namespace evershard::server
