// The script for bash. Tables first, as functions; then one function that walks over the words that were typed.

#include <map>
#include <set>

#include "evershard/cli/help/completion.hpp"

namespace evershard::cli {
namespace {

constexpr std::string_view bash_begin =
    R"(# Completion of @program@ in bash. `@program@ completion bash` printed it from the table of commands.

)";

// Its names begin with @, for the program's.
constexpr std::string_view bash_end = R"bash(
_@name@() {
  local i word command= option= next= position=0 offered= asks_help=
  local -a typed=()
  # bash cuts words at = and at :
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if ((i > 1)) && [[ $word == : || ${COMP_WORDS[i - 1]} == : ]]; then
      typed[${#typed[@]} - 1]+=$word
    elif [[ $word == = ]]; then
      ((i < COMP_CWORD)) || typed+=("")
    else
      typed+=("$word")
    fi
  done
  local last=$((${#typed[@]} - 1))
  local current=${typed[last]}
  for ((i = 0; i < last; ++i)); do
    word=${typed[i]}
    if [[ -n $option ]]; then
      option=
    elif [[ $word == help && -z $command ]]; then
      asks_help=1
    elif [[ $word == -* ]]; then
      [[ " $(_@name@_options "$command") " != *" $word= "* ]] || option=$word
    elif [[ -n $(_@name@_words "$command") ]]; then
      command=${command:+$command }$word
    else
      ((++position))
    fi
  done

  next=$(_@name@_words "$command")
  if [[ -n $option ]]; then
    offered=$(_@name@_value "$command" "$option")
  elif [[ -n $next ]]; then
    offered=$next
    [[ $current != -* ]] || offered=--help
    [[ $current != -* || -n $command ]] || offered='--help --version'
    [[ $current != -* || -z $asks_help ]] || offered=--man
  elif [[ -z $asks_help ]]; then
    [[ $current == -* ]] || offered=$(_@name@_value "$command" "$((position + 1))")
    [[ -n $offered ]] || offered=$(_@name@_options "$command")
    offered=${offered//=/}
  fi

  COMPREPLY=()
  case $offered in
    @files)
      compopt -o filenames -o default 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    @directories)
      compopt -o filenames -o dirnames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    *)
      mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$current") ;;
  esac
}
complete -F _@name@ @program@
)bash";

std::string with_names(std::string text, const Program& program) {
  for (const auto& [mark, name] :
       {std::pair<std::string_view, std::string>{"@name@", function_name(program)}, {"@program@", program.name()}}) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += name.size())
      text.replace(at, mark.size(), name);
  }
  return text;
}

std::string bash_words(const Offer& offer) {
  if (offer.kind == Offer::Kind::files) return "@files";
  if (offer.kind == Offer::Kind::directories) return "@directories";
  std::string text;
  for (const auto& word : offer.words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string bash_case(const std::string& pattern, const std::string& words) {
  return words.empty() ? "" : "    " + pattern + ") echo '" + words + "' ;;\n";
}

std::string bash_function(const std::string& name, const std::string& what, const std::string& of,
                          const std::string& cases) {
  return "# " + what + "\n_" + name + "() {\n  case " + of + " in\n" + cases + "  esac\n}\n";
}

/// The words that may follow those of a command that are typed already.
std::string bash_commands(const std::vector<ShellCommand>& all) {
  std::string firsts = "help";
  std::map<std::string, std::string> seconds;
  std::set<std::string> seen;
  for (const auto& command : all) {
    const auto blank = std::min(command.name.find(' '), command.name.size());
    const auto first = command.name.substr(0, blank);
    if (seen.insert(first).second) firsts += ' ' + first;
    if (blank != command.name.size()) seconds[first] += command.name.substr(blank);
  }
  std::string cases = bash_case("''", firsts);
  for (const auto& [first, words] : seconds) cases += bash_case(first, words.substr(1));
  return cases;
}

std::string bash_options(const std::vector<ShellCommand>& all) {
  std::string cases;
  for (const auto& command : all) {
    std::string words;
    for (const auto& option : command.options.all())
      words += (words.empty() ? "--" : " --") + option.name + (option.is_flag() ? "" : "=");
    cases += bash_case('\'' + command.name + '\'', words);
  }
  return cases;
}

/// An option that means the same in all commands that have it is one line.
std::string bash_values(const std::vector<ShellCommand>& all) {
  std::map<std::string, std::map<std::string, std::string>> by_option;  // option, words, commands
  std::string cases;
  for (const auto& command : all) {
    for (const auto& option : command.options.all()) {
      if (option.is_flag()) continue;
      auto& commands_of = by_option[option.name][bash_words(offer_for(option))];
      commands_of += (commands_of.empty() ? "'" : "|'") + command.name + " --" + option.name + '\'';
    }
    std::size_t number = 0;
    for (const auto& argument : command.options.arguments())
      cases += bash_case('\'' + command.name + ' ' + std::to_string(++number) + '\'', bash_words(offer_for(argument)));
  }
  for (const auto& [option, offers] : by_option) {
    for (const auto& [words, patterns] : offers)
      cases += bash_case(offers.size() == 1 ? "*' --" + option + '\'' : patterns, words);
  }
  return cases;
}

}  // namespace

std::string bash_completion(const Program& program) {
  const auto all = shell_commands(program);
  const auto name = function_name(program);
  return with_names(std::string(bash_begin), program) +
         bash_function(name + "_words", "The words that may follow the command's words in $1.", "$1",
                       bash_commands(all)) +
         bash_function(name + "_options", "The options of the command $1. One that ends with = takes a value.", "$1",
                       bash_options(all)) +
         bash_function(name + "_value", "The values of the option or the number of the argument $2 of the command $1.",
                       "\"$1 $2\"", bash_values(all)) +
         with_names(std::string(bash_end), program);
}

}  // namespace evershard::cli
