// Options: what a command takes, declared once; and Arguments: what it was given.

#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/nearest.hpp"

namespace evershard::cli {

/// Names, sentences and defaults; the defaults come from the structs of the module they steer.
class Options {
 public:
  Options();
  Options& value(const char* name, const char* placeholder, const char* sentence, const std::string& default_text = {});
  Options& number(const char* name, const char* placeholder, const char* sentence, std::uint64_t default_number);
  /// May be given more than once.
  Options& values(const char* name, const char* placeholder, const char* sentence);
  Options& flag(const char* name, const char* sentence);
  /// Words without a flag, in order. Optional ones stand last.
  Options& argument(const char* name, const char* sentence, bool required = true);

  struct Argument {
    std::string name;
    std::string sentence;
    bool required;
  };
  [[nodiscard]] const std::vector<Argument>& arguments() const { return arguments_; }
  [[nodiscard]] const boost::program_options::options_description& described() const { return described_; }
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] bool is_flag(std::string_view name) const;
  [[nodiscard]] std::string default_of(std::string_view name) const;

 private:
  boost::program_options::options_description described_;
  std::vector<Argument> arguments_;
  std::vector<std::string> flags_;
  std::vector<std::pair<std::string, std::string>> defaults_;
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
  [[nodiscard]] AggregateId aggregate(std::string_view name) const;
  [[nodiscard]] std::optional<AggregateId> aggregate_if(std::string_view name) const;
  /// Flags and values in the order of the command line; a flag's value is empty.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& in_order() const { return given_; }
  /// Refuses flags that mean nothing beside `beside`.
  void refuse_beside(std::string_view beside, std::initializer_list<std::string_view> names) const;

 private:
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::pair<std::string, std::string>> defaults_;
};

/// A whole number, all of the text. Absent: it is none.
[[nodiscard]] std::optional<std::uint64_t> whole_number(std::string_view text);

}  // namespace evershard::cli
