// Options: what a command takes, declared once; and Arguments: what it was given.

#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/nearest.hpp"
#include "evershard/protocol/quantity.hpp"

namespace evershard::cli {

/// One option, as it was declared. Help, shell completion and the man page are made from these.
struct Option {
  std::string name;
  std::string short_name{};
  std::string placeholder{};  ///< empty: it takes no value
  std::string sentence{};
  std::string by_default{};
  bool many = false;                   ///< the option may be given more than once
  std::vector<std::string> choices{};  ///< values that are known
  bool only_choices = false;           ///< no other value is taken
  std::optional<DurationRule> duration{};
  std::optional<SizeRule> size{};

  [[nodiscard]] bool is_flag() const { return placeholder.empty(); }
};

/// Names, sentences and defaults; the defaults come from the structs of the module they steer.
class Options {
 public:
  Options();
  Options& value(const char* name, const char* placeholder, const char* sentence, const std::string& default_text = {});
  Options& number(const char* name, const char* placeholder, const char* sentence, std::uint64_t default_number);
  /// Its values are read as protocol/quantity.hpp says. What a bare number means is added to the sentence.
  Options& duration(const char* name, const char* sentence, const DurationRule& rule,
                    std::optional<std::chrono::milliseconds> by_default = {});
  Options& size(const char* name, const char* sentence, const SizeRule& rule,
                std::optional<std::uint64_t> by_default = {});
  /// The option may be given more than once.
  Options& values(const char* name, const char* placeholder, const char* sentence);
  Options& flag(const char* name, const char* sentence);
  /// Words without a flag, in order. Optional ones stand last.
  Options& argument(const char* name, const char* sentence, bool required = true);
  /// The option or argument that was declared last takes these values and no others.
  Options& one_of(std::vector<std::string> values);
  /// These are some of the values that the option declared last takes.
  Options& such_as(std::vector<std::string> values);

  struct Argument {
    std::string name;
    std::string sentence;
    bool required;
    std::vector<std::string> choices{};  ///< the only values that it takes; empty: any value
  };
  [[nodiscard]] const std::vector<Argument>& arguments() const { return arguments_; }
  [[nodiscard]] const std::vector<Option>& all() const { return all_; }
  /// Null: there is none of that name.
  [[nodiscard]] const Option* find(std::string_view name) const;
  [[nodiscard]] const boost::program_options::options_description& described() const { return described_; }

 private:
  Options& add(Option option);

  boost::program_options::options_description described_;
  std::vector<Option> all_;
  std::vector<Argument> arguments_;
  bool argument_last_ = false;
};

/// What was given. Mistakes are UsageError; an aggregate's name that no store would take is RefusedValue.
class Arguments {
 public:
  Arguments(const Options& options, const std::vector<std::string>& words);

  [[nodiscard]] bool has(std::string_view name) const;                         ///< given, not a default
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;  ///< with the default
  [[nodiscard]] std::string required(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name) const;
  [[nodiscard]] std::uint64_t number_at_least(std::string_view name, std::uint64_t least) const;
  /// Of an option that was declared as a duration or a size. Absent: not given, and it has no default.
  [[nodiscard]] std::optional<std::chrono::milliseconds> duration(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint64_t> size(std::string_view name) const;
  [[nodiscard]] AggregateId aggregate(std::string_view name) const;
  [[nodiscard]] std::optional<AggregateId> aggregate_if(std::string_view name) const;
  /// Flags and values in the order of the command line; a flag's value is empty.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& in_order() const { return given_; }
  /// Refuses flags that mean nothing beside `beside`.
  void refuse_beside(std::string_view beside, std::initializer_list<std::string_view> names) const;

 private:
  [[nodiscard]] const Option& quantity(std::string_view name) const;

  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::pair<std::string, std::string>> defaults_;
  std::vector<Option> quantities_;  ///< durations and sizes
};

/// How many names an error suggests at most.
constexpr std::size_t near_shown = 3;
/// `did you mean group create or group drop?`; empty: there are none.
[[nodiscard]] std::string did_you_mean(const std::vector<std::string>& names);

/// A whole number, all of the text. Absent: it is none.
[[nodiscard]] std::optional<std::uint64_t> whole_number(std::string_view text);

}  // namespace evershard::cli
