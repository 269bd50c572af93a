#include "evershard/cli/failure.hpp"

#include "evershard/api/json/append_json.hpp"
#include "evershard/api/json/json_text.hpp"
#include "evershard/cli/program.hpp"

namespace evershard::cli {

const std::vector<ExitWord>& exit_words() {
  static const std::vector<ExitWord> words{{Exit::done, "done"},
                                           {Exit::usage, "usage"},
                                           {Exit::conflict, "conflict"},
                                           {Exit::not_found, "not found"},
                                           {Exit::invalid, "invalid"},
                                           {Exit::unavailable, "unavailable"},
                                           {Exit::timeout, "timeout"},
                                           {Exit::corruption, "corruption"},
                                           {Exit::io, "io"},
                                           {Exit::denied, "denied"},
                                           {Exit::interrupted, "interrupted"}};
  return words;
}

Exit exit_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::version_conflict:
    case ErrorCode::condition_failed:
    case ErrorCode::duplicate_event:
    case ErrorCode::already_exists:
      return Exit::conflict;
    case ErrorCode::not_found:
      return Exit::not_found;
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_query:
    case ErrorCode::too_large:
      return Exit::invalid;
    case ErrorCode::wrong_shard:
    case ErrorCode::fenced:
    case ErrorCode::unavailable:
    case ErrorCode::overloaded:
      return Exit::unavailable;
    case ErrorCode::timeout:
      return Exit::timeout;
    case ErrorCode::corruption:
      return Exit::corruption;
    case ErrorCode::io:
      return Exit::io;
    case ErrorCode::cancelled:
      return Exit::interrupted;
    case ErrorCode::unauthenticated:
    case ErrorCode::permission_denied:
      return Exit::denied;
  }
  return Exit::io;
}

namespace {

std::string hint_of_failure(const Failure& failure) {
  if (!failure.hint.empty() || failure.error.code != ErrorCode::corruption) return failure.hint;
  return "`evershard recover` says what is lost and mends what can be mended; `evershard restore` makes a store of a "
         "backup";
}

}  // namespace

std::string text_of(const Failure& given, const Program& program, bool as_json) {
  Failure failure = given;
  failure.hint = hint_of_failure(given);
  if (as_json) {
    JsonText json;
    json.begin_object().key("error").begin_object();
    write_error_members(json, failure.error, failure.line);
    for (const auto& [name, value] : failure.figures) json.key(name).number(value);
    if (!failure.hint.empty()) json.key("hint").string(program.said(failure.hint));
    json.end_object().end_object();
    return json.take() + '\n';
  }
  std::string text = program.name() + ": ";
  if (failure.line) text += "line " + std::to_string(*failure.line) + ": ";
  text += std::string(name_of(failure.error.code)) + ": " + failure.error.what;
  if (!failure.hint.empty()) text += "; " + program.said(failure.hint);
  return text + '\n';
}

std::string text_of(const UsageError& error, const Program& program, std::string_view command, bool as_json) {
  if (as_json) {
    JsonText json;
    json.begin_object().key("error").begin_object().key("code").string("usage").key("message").string(error.what());
    if (!error.hint.empty()) json.key("hint").string(program.said(error.hint));
    json.end_object().end_object();
    return json.take() + '\n';
  }
  std::string text = program.name() + ": ";
  if (!command.empty()) text += std::string(command) + ": ";
  text += error.what();
  if (!error.hint.empty()) text += "; " + program.said(error.hint);
  return text + '\n';
}

}  // namespace evershard::cli
