// BoundTable: a table of settings, each with its place in the options of a process: one entry says name, bounds,
// default and where it goes.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "evershard/doors/settings/settings.hpp"

// The place of a setting in the options.
#define EVERSHARD_SETTING_FIELD(Options, member) \
  [](Options & options) -> auto& { return options.member; }

namespace evershard::settings {

/// Defaults are those of a default-made Options.
template <class Options>
class BoundTable {
 public:
  using Put = std::function<void(Options&, const Value&)>;

  /// Entries of one group. `field` gives the place in the options, from which the default is read too.
  class Group {
   public:
    Group(BoundTable& all, std::string name) : all_(all), name_(std::move(name)) {}

    template <class Field>
    Setting& number(const char* name, const char* sentence, Field field) {
      return add(name, Kind::number, sentence, std::to_string(figure(field)), figure_put(field));
    }
    template <class Field>
    Setting& size(const char* name, const char* sentence, Field field) {
      return add(name, Kind::size, sentence, text_of_figure(Kind::size, figure(field)), figure_put(field));
    }
    template <class Field>
    Setting& duration(const char* name, const char* sentence, Field field) {
      const auto standard = static_cast<std::uint64_t>(field(defaults_).count());
      return add(
          name, Kind::duration, sentence, text_of_figure(Kind::duration, standard),
          [field](Options& options, const Value& value) { field(options) = std::chrono::milliseconds(value.number); });
    }
    /// A setting whose value is made from a text.
    template <class Field>
    Setting& path(const char* name, const char* sentence, Field field) {
      return add(name, Kind::path, sentence, std::string(field(defaults_)),
                 [field](Options& options, const Value& value) { field(options) = value.text; });
    }
    template <class Field>
    Setting& text(const char* name, const char* sentence, Field field) {
      return add(name, Kind::text, sentence, std::string(field(defaults_)),
                 [field](Options& options, const Value& value) { field(options) = value.text; });
    }
    template <class Field>
    Setting& list(const char* name, const char* sentence, Field field) {
      return add(name, Kind::list, sentence, text_of_list(field(defaults_)),
                 [field](Options& options, const Value& value) { field(options) = value.list; });
    }
    template <class Field>
    Setting& yes_no(const char* name, const char* sentence, Field field) {
      return add(name, Kind::yes_no, sentence, field(defaults_) ? "yes" : "no",
                 [field](Options& options, const Value& value) { field(options) = value.number == 1; });
    }
    Setting& add(const char* name, Kind kind, const char* sentence, std::string by_default, Put put) {
      Setting setting;
      setting.name = name;
      setting.group = name_;
      setting.kind = kind;
      setting.sentence = sentence;
      setting.by_default = std::move(by_default);
      all_.entries_.push_back({std::move(setting), std::move(put)});
      return all_.entries_.back().setting;
    }

   private:
    template <class Field>
    std::uint64_t figure(Field field) {
      return static_cast<std::uint64_t>(field(defaults_));
    }
    template <class Field>
    static Put figure_put(Field field) {
      return [field](Options& options, const Value& value) {
        auto& place = field(options);
        place = static_cast<std::remove_reference_t<decltype(place)>>(value.number);
      };
    }

    BoundTable& all_;
    const std::string name_;
    Options defaults_{};
  };

  [[nodiscard]] Table table() const {
    Table made;
    for (const auto& entry : entries_) made.push_back(entry.setting);
    return made;
  }
  /// `settings` has all of the table.
  [[nodiscard]] Options options(const Settings& settings) const {
    Options options{};
    for (const auto& entry : entries_) entry.put(options, settings.value(entry.setting.name));
    return options;
  }

 private:
  struct Entry {
    Setting setting;
    Put put;
  };
  std::deque<Entry> entries_;  ///< the groups hand out references
};

inline void bounded(Setting& setting, std::uint64_t least, std::uint64_t most = Setting{}.most) {
  setting.least = least;
  setting.most = most;
}

/// invalid_argument, with where the setting's value stands.
[[nodiscard]] inline Refused unfit(const Settings& settings, std::string_view name, const std::string& what) {
  return refuse(ErrorCode::invalid_argument, settings.at(name).where + ": " + std::string(name) + ' ' + what);
}

}  // namespace evershard::settings
