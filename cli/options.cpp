#include "evershard/cli/options.hpp"

#include <algorithm>
#include <charconv>

#include "evershard/cli/failure.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* words_name = "argument";

/// `--name=value` as two words, so that an empty value is one too. The value of an option stays as it is, whatever it
/// looks like; behind `--` nothing is an option.
std::vector<std::string> split_at_equals(const Options& options, const std::vector<std::string>& words) {
  std::vector<std::string> split;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (word == "--") {
      split.insert(split.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    split.push_back(word.starts_with("--") ? name : word);
    if (!word.starts_with("--")) continue;
    const bool flag = options.is_flag(name.substr(2));
    if (equals != std::string::npos && flag) throw UsageError(name + " takes no value");
    if (equals != std::string::npos)
      split.push_back(word.substr(equals + 1));
    else if (!flag && i + 1 < words.size() && options.has(name.substr(2)))
      split.push_back(words[++i]);
  }
  return split;
}

std::vector<std::string> names_of(const Options& options) {
  std::vector<std::string> names;
  for (const auto& option : options.described().options()) names.push_back("--" + option->long_name());
  return names;
}

std::string meant(std::string_view word, const Options& options) {
  const std::string near = nearest(word, names_of(options));
  return near.empty() ? "" : "did you mean " + near + "?";
}

std::vector<po::option> parsed(const Options& options, const std::vector<std::string>& words) {
  po::options_description all;
  all.add(options.described());
  all.add_options()(words_name, po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add(words_name, -1);
  using namespace po::command_line_style;
  try {
    return po::command_line_parser(split_at_equals(options, words))
        .options(all)
        .positional(positional)
        .style(unix_style & ~allow_guessing)
        .run()
        .options;
  } catch (const po::unknown_option& e) {
    throw UsageError("unknown option " + e.get_option_name(), meant(e.get_option_name(), options));
  } catch (const po::invalid_command_line_syntax& e) {
    throw UsageError(e.kind() == po::invalid_syntax::extra_parameter ? e.get_option_name() + " takes no value"
                                                                     : e.get_option_name() + " needs a value");
  } catch (const po::error& e) {
    throw UsageError(e.what());
  }
}

}  // namespace

Options::Options() : described_("Options", 100, 60) {}

Options& Options::value(const char* name, const char* placeholder, const char* sentence,
                        const std::string& default_text) {
  auto* kind = po::value<std::string>()->value_name(placeholder);
  if (!default_text.empty()) {
    kind->default_value(default_text);
    defaults_.emplace_back(name, default_text);
  }
  described_.add_options()(name, kind, sentence);
  return *this;
}

Options& Options::number(const char* name, const char* placeholder, const char* sentence,
                         std::uint64_t default_number) {
  return value(name, placeholder, sentence, std::to_string(default_number));
}

Options& Options::values(const char* name, const char* placeholder, const char* sentence) {
  described_.add_options()(name, po::value<std::vector<std::string>>()->composing()->value_name(placeholder), sentence);
  return *this;
}

Options& Options::flag(const char* name, const char* sentence) {
  described_.add_options()(name, sentence);
  flags_.emplace_back(std::string_view(name).substr(0, std::string_view(name).find(',')));
  return *this;
}

Options& Options::argument(const char* name, const char* sentence, bool required) {
  arguments_.push_back({name, sentence, required});
  return *this;
}

bool Options::has(const std::string& name) const { return described_.find_nothrow(name, false) != nullptr; }

bool Options::is_flag(std::string_view name) const {
  return std::find(flags_.begin(), flags_.end(), name) != flags_.end();
}

std::string Options::default_of(std::string_view name) const {
  for (const auto& [known, text] : defaults_) {
    if (known == name) return text;
  }
  return {};
}

Arguments::Arguments(const Options& options, const std::vector<std::string>& words) {
  std::size_t argument = 0;
  for (const auto& option : parsed(options, words)) {
    if (option.string_key == words_name) {
      for (const auto& word : option.value) {
        if (argument == options.arguments().size()) throw UsageError("one argument too many: " + in_quotes(word));
        given_.emplace_back(options.arguments()[argument++].name, word);
      }
      continue;
    }
    const bool many = options.described().find(option.string_key, false).semantic()->is_composing();
    if (!many && !options.is_flag(option.string_key) && has(option.string_key)) {
      throw UsageError("--" + option.string_key + " is given twice");
    }
    given_.emplace_back(option.string_key, option.value.empty() ? "" : option.value.front());
  }
  for (const auto& option : options.described().options()) {
    if (const auto text = options.default_of(option->long_name()); !text.empty())
      defaults_.emplace_back(option->long_name(), text);
  }
  if (has("help")) return;
  for (; argument < options.arguments().size(); ++argument) {
    const auto& missing = options.arguments()[argument];
    if (missing.required) throw UsageError(missing.name + " is missing: " + missing.sentence);
  }
}

bool Arguments::has(std::string_view name) const {
  return std::any_of(given_.begin(), given_.end(), [&](const auto& given) { return given.first == name; });
}

std::optional<std::string> Arguments::text(std::string_view name) const {
  for (const auto* list : {&given_, &defaults_}) {
    for (const auto& [known, text] : *list) {
      if (known == name) return text;
    }
  }
  return std::nullopt;
}

std::string Arguments::required(std::string_view name) const {
  auto given = text(name);
  if (!given) throw UsageError("--" + std::string(name) + " is missing");
  return *given;
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  std::vector<std::string> all;
  for (const auto& [known, text] : given_) {
    if (known == name) all.push_back(text);
  }
  return all;
}

std::optional<std::uint64_t> Arguments::number(std::string_view name) const {
  const auto given = text(name);
  if (!given) return std::nullopt;
  const auto value = whole_number(*given);
  if (!value)
    throw UsageError("--" + std::string(name) + " is " + in_quotes(*given) +
                     ": it must be a whole number, not negative");
  return value;
}

std::uint64_t Arguments::number_at_least(std::string_view name, std::uint64_t least) const {
  const auto value = number(name);
  if (!value) throw UsageError("--" + std::string(name) + " is missing");
  if (*value < least)
    throw UsageError("--" + std::string(name) + " is " + std::to_string(*value) + ": the least is " +
                     std::to_string(least));
  return *value;
}

AggregateId Arguments::aggregate(std::string_view name) const {
  auto id = aggregate_if(name);
  if (!id) throw UsageError(std::string(name) + " is missing");
  return *id;
}

std::optional<AggregateId> Arguments::aggregate_if(std::string_view name) const {
  const auto given = text(name);
  if (!given) return std::nullopt;
  auto id = AggregateId::parse(*given);
  if (!id) throw RefusedValue(std::move(id).error());
  return *id;
}

void Arguments::refuse_beside(std::string_view beside, std::initializer_list<std::string_view> names) const {
  for (const auto name : names) {
    if (has(name)) throw UsageError("--" + std::string(name) + " means nothing beside " + std::string(beside));
  }
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace evershard::cli
