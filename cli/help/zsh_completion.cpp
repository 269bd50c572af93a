// The script for zsh: lists of commands, and for each what `_arguments` takes.

#include <algorithm>
#include <map>
#include <vector>

#include "evershard/cli/help/completion.hpp"

namespace evershard::cli {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// As one word of the shell.
std::string zsh_word(const std::string& text) { return '\'' + replaced(text, "'", "'\\''") + '\''; }

/// As a part of what `_arguments` and `_describe` take, which give \, : and brackets a meaning.
std::string zsh_part(std::string text) {
  for (const auto* special : {"\\", ":", "[", "]"})
    text = replaced(std::move(text), special, std::string("\\") + special);
  return text;
}

std::string zsh_action(const Offer& offer) {
  if (offer.kind == Offer::Kind::files) return "_files";
  if (offer.kind == Offer::Kind::directories) return "_files -/";
  std::string words;
  for (const auto& word : offer.words) words += (words.empty() ? "" : " ") + word;
  return words.empty() ? " " : '(' + words + ')';
}

std::string zsh_option(const Option& option) {
  const auto explained = '[' + zsh_part(option.sentence) + ']';
  if (!option.short_name.empty())
    return "'(-" + option.short_name + " --" + option.name + ")'{-" + option.short_name + ",--" + option.name + '}' +
           zsh_word(explained);
  if (option.is_flag()) return zsh_word("--" + option.name + explained);
  return zsh_word((option.many ? "*--" : "--") + option.name + '=' + explained + ':' + zsh_part(option.placeholder) +
                  ':' + zsh_action(offer_for(option)));
}

/// The options of commands that work on a store wherever it is: most have them all, and they stand in the script once.
std::vector<std::string> zsh_store_options(const ShellCommand& any) {
  std::vector<std::string> specs;
  const Options of_a_store = store_options();
  for (const auto& option : of_a_store.all()) specs.push_back(zsh_option(option));
  for (const auto* name : {"format", "help"}) specs.push_back(zsh_option(*any.options.find(name)));
  return specs;
}

std::string zsh_arguments(const Options& options, const std::vector<std::string>& of_a_store) {
  std::vector<std::string> own, shared;
  for (const auto& option : options.all()) {
    auto spec = zsh_option(option);
    (std::ranges::find(of_a_store, spec) != of_a_store.end() ? shared : own).push_back(std::move(spec));
  }
  std::string text = "      _arguments -s";
  if (shared.size() == of_a_store.size())
    text += " $of_a_store";
  else
    own.insert(own.end(), shared.begin(), shared.end());
  for (const auto& spec : own) text += " \\\n        " + spec;
  for (const auto& argument : options.arguments())
    text += " \\\n        " + zsh_word((argument.required ? ":" : "::") + zsh_part(argument.name) + ':' +
                                       zsh_action(offer_for(argument)));
  return text + " ;;\n";
}

std::string zsh_described(const std::string& word, const std::string& sentence) {
  return "        " + zsh_word(zsh_part(word) + ':' + zsh_part(sentence)) + '\n';
}

}  // namespace

std::string zsh_completion(const Program& program) {
  const auto all = shell_commands(program);
  const auto name = '_' + function_name(program);
  std::string firsts = zsh_described("help", std::string(help_sentence));
  std::string cases;
  std::map<std::string, std::string> seconds;
  const auto of_a_store = zsh_store_options(all.front());
  std::string specs;
  for (const auto& spec : of_a_store) specs += "    " + spec + '\n';
  for (const auto& group : command_groups()) firsts += zsh_described(group.word, group.sentence);
  for (const auto& command : all) {
    const auto blank = command.name.find(' ');
    if (blank == std::string::npos)
      firsts += zsh_described(command.name, command.sentence);
    else
      seconds[command.name.substr(0, blank)] += zsh_described(command.name.substr(blank + 1), command.sentence);
    cases += "    " + zsh_word(command.name) + ")\n" + zsh_arguments(command.options, of_a_store);
  }
  std::string groups;
  for (const auto& [first, described] : seconds)
    groups += "    " + first + ")\n      words_left=(\n" + described + "      ) ;;\n";

  std::string text = "#compdef " + program.name() + "\n# Completion of " + program.name() + " in zsh. `" +
                     program.name() + " completion zsh` printed it from the table of commands.\n\n" + name + "() {\n";
  text += R"(  local command= asks_help= word
  local -a words_left of_a_store
  if [[ $words[2] == help ]] && (( CURRENT > 2 )); then
    asks_help=1
    shift words
    (( CURRENT-- ))
  fi
  if (( CURRENT == 2 )); then
    words_left=(
)" + firsts +
          R"(    )
    _describe -t commands command words_left
    return
  fi
  command=$words[2]
  case $command in
)" + groups +
          R"(  esac
  if (( $#words_left )); then
    if (( CURRENT == 3 )); then
      _describe -t commands command words_left
      return
    fi
    command+=" $words[3]"
    shift words
    (( CURRENT-- ))
  fi
  [[ -z $asks_help ]] || return 1
  shift words
  (( CURRENT-- ))
  of_a_store=(
)" + specs +
          R"(  )
  case $command in
)" + cases +
          "  esac\n}\n\n";
  return text + "if [[ ${funcstack[1]} == " + name + " ]]; then\n  " + name + " \"$@\"\nelse\n  compdef " + name + ' ' +
         program.name() + "\nfi\n";
}

}  // namespace evershard::cli
