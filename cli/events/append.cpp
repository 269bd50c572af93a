// `evershard append`: one event from flags, or a line of JSON an append.

#include "evershard/api/json/append_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/append_flags.hpp"
#include "evershard/cli/events/append_lines.hpp"
#include "evershard/cli/print.hpp"

namespace evershard::cli {
namespace {

Options append_options() {
  Options options = store_options();
  add_append_flags(options);
  options.value("request-id", "UUID", "names the request; a request with the same id is stored once")
      .value("jsonl", "FILE", "read appends from a file, one JSON object a line; - is standard input");
  add_line_flags(options);
  return options;
}

std::string versions_text(const Appended& appended) {
  std::string text;
  for (const auto& [aggregate, version] : appended.versions) {
    text += (text.empty() ? "" : ", ") + aggregate.text() + " is at version " + std::to_string(version.value);
  }
  return text;
}

std::string sentence(const Appended& appended) {
  std::string text = (appended.duplicate ? "was stored already at position " : "stored at position ") +
                     std::to_string(appended.first_position.value);
  if (appended.last_position != appended.first_position) text += " to " + std::to_string(appended.last_position.value);
  const std::string versions = versions_text(appended);
  return versions.empty() ? text : text + "; " + versions;
}

Outcome append_one(const Invocation& invocation) {
  auto append = append_of(invocation.arguments);
  if (!append) return Failed(Failure(std::move(append).error()));
  if (invocation.arguments.has("request-id")) append->request_id = uuid_of(invocation.arguments, "request-id");
  auto store = invocation.open(Invocation::Keys::created);
  if (!store) return Failed(std::move(store).error());
  auto appended = store->append(std::move(*append));
  if (!appended) return Failed(Failure(std::move(appended).error()));
  JsonText json;
  write_appended(json, *appended);
  invocation.out.write((invocation.for_people() ? sentence(*appended) : json.text()) + '\n');
  return {};
}

Outcome append_lines(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  arguments.refuse_beside(
      "--jsonl", {"aggregate", "type", "tag", "also", "payload", "payload-file", "payload-format", "metadata", "id",
                  "occurred-at", "expect", "fail-if", "after", "snapshot", "schema-revision", "request-id"});
  const auto settings = line_settings_of(arguments);
  auto store = invocation.open(Invocation::Keys::created);
  if (!store) return Failed(std::move(store).error());

  AppendLines lines(invocation, *store, settings);
  ListPrinter printer(invocation, {});
  JsonText json;
  Outcome outcome = lines.run(
      arguments.required("jsonl"), [&](std::uint64_t line, const AppendLine&, const Result<Appended>& result) {
        if (invocation.for_people()) {
          const std::string text =
              result ? sentence(*result) : std::string(name_of(result.error().code)) + ": " + result.error().what;
          invocation.out.write("line " + std::to_string(line) + ": " + text + '\n');
          return;
        }
        json.clear();
        if (result) {
          write_appended(json, *result);
        } else {
          json.begin_object().key("error").begin_object();
          write_error_members(json, result.error(), line);
          json.end_object().end_object();
        }
        printer.json(json.text());
      });
  printer.finish();
  return outcome;
}

Outcome run_append(const Invocation& invocation) {
  if (invocation.arguments.has("jsonl")) return append_lines(invocation);
  invocation.arguments.refuse_beside("a single event", {"in-flight", "line-bytes-max", "continue"});
  return append_one(invocation);
}

}  // namespace

Command append_command() {
  return {"append",
          "data",
          "Stores events: one from flags, or many from JSON Lines.",
          R"(evershard append --data shop --aggregate order-1 --type OrderPlaced --payload '{"total":12}')",
          append_options,
          run_append};
}

}  // namespace evershard::cli
