#include "evershard/cli/options.hpp"

#include <algorithm>
#include <charconv>

#include "evershard/cli/failure.hpp"
#include "evershard/protocol/check.hpp"
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
    const Option* option = options.find(name.substr(2));
    const bool flag = option != nullptr && option->is_flag();
    if (equals != std::string::npos && flag) throw UsageError(name + " takes no value");
    if (equals != std::string::npos)
      split.push_back(word.substr(equals + 1));
    else if (!flag && i + 1 < words.size() && option != nullptr)
      split.push_back(words[++i]);
  }
  return split;
}

std::string meant(std::string_view word, const Options& options) {
  std::vector<std::string> names;
  for (const auto& option : options.all()) names.push_back("--" + option.name);
  return did_you_mean(near_ones(word, names, near_shown));
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// A UsageError, where others are known and this is none of them.
void check_choice(const std::string& name, const std::string& text, const std::vector<std::string>& choices) {
  if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) return;
  throw UsageError(name + " is " + in_quotes(text), "it is one of " + listed(choices));
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

Options& Options::add(Option option) {
  argument_last_ = false;
  const auto name = option.short_name.empty() ? option.name : option.name + ',' + option.short_name;
  if (option.is_flag()) {
    described_.add_options()(name.c_str(), option.sentence.c_str());
  } else if (option.many) {
    described_.add_options()(name.c_str(),
                             po::value<std::vector<std::string>>()->composing()->value_name(option.placeholder),
                             option.sentence.c_str());
  } else {
    auto* kind = po::value<std::string>()->value_name(option.placeholder);
    if (!option.by_default.empty()) kind->default_value(option.by_default);
    described_.add_options()(name.c_str(), kind, option.sentence.c_str());
  }
  all_.push_back(std::move(option));
  return *this;
}

Options& Options::value(const char* name, const char* placeholder, const char* sentence,
                        const std::string& default_text) {
  return add({.name = name, .placeholder = placeholder, .sentence = sentence, .by_default = default_text});
}

Options& Options::number(const char* name, const char* placeholder, const char* sentence,
                         std::uint64_t default_number) {
  return value(name, placeholder, sentence, std::to_string(default_number));
}

Options& Options::duration(const char* name, const char* sentence, const DurationRule& rule,
                           std::optional<std::chrono::milliseconds> by_default) {
  Option option{.name = name, .placeholder = "DURATION", .sentence = sentence, .duration = rule};
  option.sentence += " (500ms, 12s, 5min, 2h, 90d";
  if (rule.bare != BareNumber::refused)
    option.sentence +=
        rule.bare == BareNumber::seconds ? "; a bare number is seconds" : "; a bare number is milliseconds";
  option.sentence += ')';
  if (by_default) option.by_default = text_of_duration(*by_default);
  return add(std::move(option));
}

Options& Options::size(const char* name, const char* sentence, const SizeRule& rule,
                       std::optional<std::uint64_t> by_default) {
  Option option{.name = name, .placeholder = "SIZE", .sentence = sentence, .size = rule};
  option.sentence += " (4096, 64KiB, 16MiB, 1GB)";
  if (by_default) option.by_default = text_of_size(*by_default);
  return add(std::move(option));
}

Options& Options::values(const char* name, const char* placeholder, const char* sentence) {
  return add({.name = name, .placeholder = placeholder, .sentence = sentence, .many = true});
}

Options& Options::flag(const char* name, const char* sentence) {
  const std::string_view both = name;
  const auto comma = std::min(both.find(','), both.size());
  return add({.name = std::string(both.substr(0, comma)),
              .short_name = std::string(both.substr(std::min(comma + 1, both.size()))),
              .sentence = sentence});
}

Options& Options::argument(const char* name, const char* sentence, bool required) {
  arguments_.push_back({name, sentence, required});
  argument_last_ = true;
  return *this;
}

Options& Options::one_of(std::vector<std::string> values) {
  if (argument_last_) {
    arguments_.back().choices = std::move(values);
    return *this;
  }
  all_.back().only_choices = true;
  return such_as(std::move(values));
}

Options& Options::such_as(std::vector<std::string> values) {
  all_.back().choices = std::move(values);
  return *this;
}

const Option* Options::find(std::string_view name) const {
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const Option& option) { return option.name == name; });
  return at == all_.end() ? nullptr : &*at;
}

Arguments::Arguments(const Options& options, const std::vector<std::string>& words) {
  std::size_t argument = 0;
  for (const auto& option : parsed(options, words)) {
    if (option.string_key == words_name) {
      for (const auto& word : option.value) {
        if (argument == options.arguments().size()) throw UsageError("one argument too many: " + in_quotes(word));
        const auto& known = options.arguments()[argument++];
        check_choice(known.name, word, known.choices);
        given_.emplace_back(known.name, word);
      }
      continue;
    }
    const Option& known = *options.find(option.string_key);
    if (!known.many && !known.is_flag() && has(known.name)) throw UsageError("--" + known.name + " is given twice");
    given_.emplace_back(known.name, option.value.empty() ? "" : option.value.front());
    if (known.only_choices) check_choice("--" + known.name, given_.back().second, known.choices);
  }
  for (const auto& option : options.all()) {
    if (!option.by_default.empty()) defaults_.emplace_back(option.name, option.by_default);
    if (option.duration || option.size) quantities_.push_back(option);
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

std::optional<std::chrono::milliseconds> Arguments::duration(std::string_view name) const {
  const auto given = text(name);
  if (!given) return std::nullopt;
  auto value = duration_from(*given, "--" + std::string(name), *quantity(name).duration);
  if (!value) throw UsageError(value.error().what);
  return *value;
}

std::optional<std::uint64_t> Arguments::size(std::string_view name) const {
  const auto given = text(name);
  if (!given) return std::nullopt;
  auto value = size_from(*given, "--" + std::string(name), *quantity(name).size);
  if (!value) throw UsageError(value.error().what);
  return *value;
}

const Option& Arguments::quantity(std::string_view name) const {
  const auto at =
      std::find_if(quantities_.begin(), quantities_.end(), [&](const Option& option) { return option.name == name; });
  EVERSHARD_CHECK(at != quantities_.end(), "an option is read as it was declared");
  return *at;
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
    if (has(name)) throw UsageError("--" + std::string(name) + " cannot be combined with " + std::string(beside));
  }
}

std::string did_you_mean(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text.empty() ? text : "did you mean " + text + "?";
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace evershard::cli
