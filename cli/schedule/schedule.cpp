// `evershard schedule append, list, show, cancel`: appends that the store makes at a later time.

#include <utility>

#include "evershard/api/json/append_json.hpp"
#include "evershard/api/json/input.hpp"
#include "evershard/api/json/scheduled_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/append_flags.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/pages.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

constexpr std::uint64_t scheduled_listed_default = 100;
constexpr std::uint64_t scheduled_page_max = 1'000;
constexpr std::size_t append_file_bytes_max = 64u << 20;

std::string outcome_of(const ScheduledAppend& scheduled) {
  std::string text(name_of(scheduled.state));
  if (scheduled.state == ScheduledState::appended) {
    text += " at position " + std::to_string(scheduled.first_position.value);
    if (scheduled.last_position != scheduled.first_position)
      text += " to " + std::to_string(scheduled.last_position.value);
  }
  if (scheduled.refusal) text += ": " + std::string(name_of(scheduled.refusal->code)) + ": " + scheduled.refusal->what;
  return text;
}

std::string due_of(const ScheduledAppend& scheduled) { return scheduled.append ? scheduled.due.text() : ""; }

std::string types_of(const ScheduledAppend& scheduled) {
  std::string text;
  if (!scheduled.append) return "(erased)";
  for (const auto& event : scheduled.append->events) {
    text += (text.empty() ? "" : ", ") + event.type;
    if (event.aggregate) text += " of " + event.aggregate->text();
  }
  return text;
}

void print_scheduled(const Invocation& invocation, const ScheduledAppend& scheduled) {
  JsonText json;
  write_scheduled(json, scheduled);
  std::vector<std::pair<std::string, std::string>> parts{
      {"id", scheduled.id}, {"state", outcome_of(scheduled)}, {"events", types_of(scheduled)}};
  if (scheduled.append) parts.emplace_back("due", scheduled.due.text());
  parts.emplace_back("scheduled", scheduled.scheduled_at.text() + ", at position " +
                                      std::to_string(scheduled.position.value) +
                                      (scheduled.duplicate ? ", by an earlier request" : ""));
  if (scheduled.settled_at) parts.emplace_back("settled", scheduled.settled_at->text());
  print_one(invocation, json, parts);
}

Options schedule_append_options() {
  Options options = store_options();
  options.value("at", "TIME", "when the events are stored, such as 2026-01-31T12:00:00Z")
      .duration("in", "how long from now; instead of --at", {.most = scheduled_after_most});
  options
      .value("schedule-id", "ID",
             "names the scheduled append; the same one again is scheduled once. Without it, a random one")
      .flag("replace", "replace the one with this --schedule-id, if it still waits")
      .value("json", "FILE", "read the append from a file, as JSON; - is standard input. Instead of the flags below");
  add_append_flags(options);
  return options;
}

Result<Append> append_of_file(const std::string& path) {
  auto input = Input::open(path);
  if (!input) return refuse(std::move(input).error());
  const auto text = input->read_all(append_file_bytes_max);
  if (!text) return refuse(text.error());
  auto line = read_append(*text, LineRules::append);
  if (!line) return refuse(std::move(line).error());
  return std::move(line->append);
}

Outcome run_schedule_append(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  ScheduleOrder order{.id = arguments.text("schedule-id").value_or(""), .replace = arguments.has("replace")};
  if (order.id.empty() && arguments.has("schedule-id"))
    throw UsageError("--schedule-id is empty", "leave it out, and a random one is made");
  if (order.replace && order.id.empty()) throw UsageError("--replace needs --schedule-id");
  if (arguments.has("at") == arguments.has("in")) throw UsageError("either --at or --in is needed");
  if (const auto text = arguments.text("at")) {
    order.due = Timestamp::parse(*text);
    if (!order.due) throw UsageError("--at is " + in_quotes(*text), "a time looks like 2026-01-31T12:00:00Z");
  }
  if (const auto after = arguments.duration("in")) order.after = *after;
  const auto file = arguments.text("json");
  if (file)
    arguments.refuse_beside("--json", {"aggregate", "type", "tag", "also", "payload", "payload-file", "payload-format",
                                       "metadata", "subject", "id", "occurred-at", "expect", "fail-if", "after"});
  auto append = file ? append_of_file(*file) : append_of(arguments);
  if (!append) return Failed(Failure(std::move(append).error()));
  order.append = *std::move(append);
  auto store = invocation.open(Invocation::Keys::created);
  if (!store) return Failed(std::move(store).error());
  const auto scheduled = store->scheduled().schedule(std::move(order));
  if (!scheduled) return Failed(Failure(scheduled.error()));
  print_scheduled(invocation, *scheduled);
  return {};
}

Options schedule_list_options() {
  Options options = store_options();
  options.flag("all", "show those that were made, refused or cancelled too, in order of id")
      .value("after", "NEXT", "go on behind the last page")
      .number("limit", "N", "show at most this many", scheduled_listed_default);
  return options;
}

Outcome run_schedule_list(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  ScheduledListing listing{.all = arguments.has("all"), .after = arguments.text("after").value_or("")};
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  ListPrinter list(invocation, {{"id"}, {"due"}, {"state"}, {"events"}});
  return print_pages(
      invocation, list, std::move(listing), scheduled_page_max,
      [&](const auto& of) { return store->scheduled().list(of); },
      [](const auto& page) { return page.scheduled.size(); },
      [&](const auto& page) {
        for (const auto& scheduled : page.scheduled) {
          if (invocation.for_people()) {
            list.row({scheduled.id, due_of(scheduled), outcome_of(scheduled), types_of(scheduled)});
            continue;
          }
          JsonText json;
          write_scheduled(json, scheduled);
          list.json(json.text());
        }
      });
}

Options schedule_id_options() {
  Options options = store_options();
  options.argument("ID", "the scheduled append's id");
  return options;
}

Outcome run_schedule_show(const Invocation& invocation) {
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto scheduled = store->scheduled().get(invocation.arguments.required("ID"));
  if (!scheduled) return Failed(Failure(scheduled.error()));
  print_scheduled(invocation, *scheduled);
  return {};
}

Outcome run_schedule_cancel(const Invocation& invocation) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto scheduled = store->scheduled().cancel(invocation.arguments.required("ID"));
  if (!scheduled) return Failed(Failure(scheduled.error()));
  print_scheduled(invocation, *scheduled);
  return {};
}

}  // namespace

Command schedule_append_command() {
  return {"schedule append",
          "data",
          "Stores events at a later time: one from flags, or an append as JSON.",
          "evershard schedule append --in 15min --data shop --aggregate order-1 --type Expired --expect 1",
          schedule_append_options,
          run_schedule_append,
          nullptr,
          "What --expect and --fail-if say is checked when the time has come. The events are stored by a process that "
          "has the store open then: a server, or an application."};
}
Command schedule_list_command() {
  return {"schedule list",
          "data",
          "Lists the appends that wait for their time.",
          "evershard schedule list --data shop",
          schedule_list_options,
          run_schedule_list};
}
Command schedule_show_command() {
  return {"schedule show",
          "data",
          "Shows a scheduled append, and what became of it.",
          "evershard schedule show reminder-7 --data shop",
          schedule_id_options,
          run_schedule_show};
}
Command schedule_cancel_command() {
  return {"schedule cancel",
          "data",
          "Cancels a scheduled append.",
          "evershard schedule cancel reminder-7 --data shop",
          schedule_id_options,
          run_schedule_cancel};
}

}  // namespace evershard::cli
