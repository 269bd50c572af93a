// Settings: what is in force, and where each value came from: a flag goes before the environment, that before the file,
// that before the default.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/doors/settings/setting.hpp"

namespace evershard::settings {

using Table = std::vector<Setting>;

/// One value, as one source gives it.
struct Given {
  std::string name;  ///< of a setting in the table
  std::string text;
  std::string where;  ///< "flag --listen", "environment EVERSHARD_LISTEN", "evershard.conf, line 3"
};

struct Environment {
  std::vector<Given> given;
  std::vector<std::string> unknown;  ///< no setting's, nor like one: somebody else's, most probably
};

/// Variables that begin with EVERSHARD_; empty ones count as not set, and what clients read (`not_ours`) or Kubernetes
/// adds for a service named evershard is passed over.
///
/// Errors: invalid_argument: a variable that is almost a setting's, with the one that was probably meant
[[nodiscard]] Result<Environment> from_environment(const Table& table,
                                                   const std::vector<std::pair<std::string, std::string>>& variables,
                                                   const std::vector<std::string>& not_ours);

class Settings {
 public:
  struct Entry {
    Setting setting;
    Value value;
    std::string where;  ///< "default", else Given::where
    [[nodiscard]] bool is_default() const { return where == "default"; }
    /// For everybody's eyes.
    [[nodiscard]] std::string shown() const;
  };

  /// Values of a list that one source gives several times are one list.
  ///
  /// Errors: invalid_argument: a value that does not fit, also one that another goes before, with where it stands; a
  ///         name the table does not have
  [[nodiscard]] static Result<Settings> gather(const Table& table, const std::vector<Given>& flags,
                                               const std::vector<Given>& environment, const std::vector<Given>& file);

  /// From now on the value and source of a setting are those of `now`.
  void adopt(std::string_view name, const Settings& now);

  /// The table has it.
  [[nodiscard]] const Entry& at(std::string_view name) const;
  [[nodiscard]] const Value& value(std::string_view name) const { return at(name).value; }
  /// In the order of the table.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// Names whose values differ.
[[nodiscard]] std::vector<std::string> changed(const Settings& before, const Settings& now);

}  // namespace evershard::settings
