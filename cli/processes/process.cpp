// `evershard process list, describe, instances, parked, stop, resume, retry, skip, replay`.

#include <algorithm>

#include "evershard/api/json/process_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/views/projection_rows.hpp"

namespace evershard::cli {
namespace {

constexpr std::uint64_t instances_listed_default = 100;
constexpr std::uint64_t instances_page_max = 1'000;

std::string state_text(const ProcessInfo& info) {
  if (info.state.stopped) return info.running ? "stopped" : "stopped, nobody runs it";
  if (!info.running) return "nobody runs it";
  if (!info.said_at) return "begins";
  return info.state.figures.failing != 0 ? "failing" : "runs";
}

Options process_name_options() {
  Options options = store_options();
  options.argument("NAME", "the process's name: its `type`");
  return options;
}

Outcome run_process_list(const Invocation& invocation) {
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto all = store->processes().processes();
  if (!all) return Failed(Failure(all.error()));
  ListPrinter list(invocation, {{"process"}, {"state"}, {"lag"}, {"waiting"}, {"failing"}, {"runs at"}, {"trouble"}});
  for (const auto& info : *all) {
    if (invocation.for_people()) {
      list.row({info.name, state_text(info), std::to_string(info.lag()), std::to_string(info.state.figures.waiting),
                std::to_string(info.state.figures.failing), info.state.runs_at, info.state.trouble});
      continue;
    }
    JsonText json;
    write_process(json, info);
    list.json(json.text());
  }
  list.finish();
  return {};
}

std::string names_text(const std::set<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string failure_text(const ProcessFailing& failing) {
  return failing.place.text() + " " + failing.type + ", " + std::to_string(failing.attempts) +
         " attempts: " + failing.why;
}

Outcome run_process_describe(const Invocation& invocation) {
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto info = store->processes().process(invocation.arguments.required("NAME"));
  if (!info) return Failed(Failure(info.error()));
  JsonText json;
  write_process(json, *info);
  const auto& state = info->state;
  const auto& figures = state.figures;
  std::vector<std::pair<std::string, std::string>> parts{
      {"process", info->name},
      {"state", state_text(*info)},
      {"position", std::to_string(state.position.value) + ", " + std::to_string(info->lag()) + " behind the head"},
      {"waiting", std::to_string(figures.waiting) + ", of these " + std::to_string(figures.failing) + " failing"},
      {"reacted", std::to_string(figures.reacted) + " events"},
      {"sent", std::to_string(figures.sent) + " commands, of these " + std::to_string(figures.rejected) + " rejected"},
      {"effects", std::to_string(figures.performed) + " performed, " + std::to_string(figures.given_up) + " given up"},
      {info->running ? "runs at" : "ran at",
       state.runs_at.empty() ? "(not known)" : state.runs_at + ", since " + info->taken_at.text()}};
  if (info->said_at) parts.emplace_back("as of", info->said_at->text());
  if (!state.stopped_instances.empty()) parts.emplace_back("stopped", names_text(state.stopped_instances));
  if (!state.trouble.empty()) parts.emplace_back("trouble", state.trouble);
  for (const auto& failing : state.failures) parts.emplace_back("failing " + failing.instance, failure_text(failing));
  print_one(invocation, json, parts);
  return {};
}

Options process_instances_options() {
  Options options = process_name_options();
  options.value("after", "INSTANCE", "only instances after this one")
      .flag("failing", "only those for which something is tried again, or that are stopped")
      .number("limit", "N", "show at most this many", instances_listed_default);
  return options;
}

Outcome run_process_instances(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto name = arguments.required("NAME");
  auto after = arguments.text("after").value_or("");
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  ListPrinter list(invocation, {{"instance"}, {"version"}, {"last position"}, {"state"}});
  const bool failing = arguments.has("failing");
  bool more = true;
  for (std::uint64_t left = arguments.number_at_least("limit", 1); more && left > 0 && !invocation.out.ended();) {
    const auto most = failing ? instances_page_max : std::min(left, instances_page_max);
    const auto page = store->processes().instances(name, after, most);
    if (!page) {
      list.finish();
      return Failed(Failure(page.error()));
    }
    more = page->size() == most;
    for (const auto& instance : *page) {
      if (left == 0) {
        more = true;
        break;
      }
      after = instance.instance;
      if (failing && instance.failures.empty() && !instance.stopped) continue;
      --left;
      if (!invocation.for_people()) {
        JsonText json;
        write_process_instance(json, instance);
        list.json(json.text());
        continue;
      }
      std::string state = instance.stopped ? "stopped" : "";
      for (const auto& one : instance.failures) state += (state.empty() ? "" : "; ") + failure_text(one);
      list.row({instance.instance, std::to_string(instance.version.value), std::to_string(instance.last_position.value),
                state});
    }
    if (more && left > 0 && interrupted()) return stopped_in_the_middle(list);
  }
  list.finish();
  if (invocation.out.ended()) return {};
  if (more) say_there_is_more("--after " + after + " goes on, --limit is how many are shown");
  if (const auto info = failing ? store->processes().process(name) : Result<ProcessInfo>();
      failing && info && info->state.figures.failing > info->state.failures.size())
    say_there_is_more(std::to_string(info->state.figures.failing) + " fail, and the first " +
                      std::to_string(info->state.failures.size()) + " are known here: mend these first");
  return {};
}

Outcome run_process_parked(const Invocation& invocation) {
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto all = store->processes().parked_effects(invocation.arguments.required("NAME"));
  if (!all) return Failed(Failure(all.error()));
  ListPrinter list(invocation, {{"item"}, {"instance"}, {"type"}, {"parked"}, {"reason"}});
  for (const auto& effect : *all) {
    if (invocation.for_people()) {
      list.row({effect.place.text(), effect.instance, effect.type,
                effect.parked_at.text() + (effect.replaying ? ", is performed once more" : ""), effect.reason});
      continue;
    }
    JsonText json;
    write_parked_effect(json, effect);
    list.json(json.text());
  }
  list.finish();
  return {};
}

// ---- what is wanted

Options process_instance_options() {
  Options options = process_name_options();
  options.value("instance", "INSTANCE", "only this one; without it, all of the process");
  return options;
}

Options process_item_options() {
  Options options = process_name_options();
  options.argument("ITEM", "what `process describe` shows as failing, such as event/17 or command/23/0");
  return options;
}

Options process_replay_options() {
  Options options = process_name_options();
  options.argument("ITEM", "what `process parked` shows, such as effect/23/0");
  return options;
}

Outcome want(const Invocation& invocation, std::string_view action) {
  const auto item = invocation.arguments.text("ITEM").value_or("");
  const auto instance = invocation.arguments.text("instance").value_or("");
  if (instance.empty() && invocation.arguments.has("instance"))
    throw UsageError("--instance is empty", "leave it out, and all of the process is meant");
  const auto control = process_control_of(action, instance, item);
  if (!control) return Failed(Failure(control.error()));
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto position = store->processes().control(invocation.arguments.required("NAME"), *control);
  if (!position) return Failed(Failure(position.error()));
  JsonText json;
  json.begin_object().key("position").number(position->value).end_object();
  invocation.out.write((invocation.for_people()
                            ? "asked for at position " + std::to_string(position->value) +
                                  "; whoever runs the process does it within a second, or when it runs again"
                            : json.text()) +
                       '\n');
  return {};
}

Outcome run_process_stop(const Invocation& invocation) { return want(invocation, "stop"); }
Outcome run_process_resume(const Invocation& invocation) { return want(invocation, "resume"); }
Outcome run_process_retry(const Invocation& invocation) { return want(invocation, "retry"); }
Outcome run_process_skip(const Invocation& invocation) { return want(invocation, "skip"); }
Outcome run_process_replay(const Invocation& invocation) { return want(invocation, "replay"); }

}  // namespace

Command process_list_command() {
  return {"process list",
          "processes",
          "Lists the processes that react to events, and how they are.",
          "evershard process list --data shop",
          store_options,
          run_process_list};
}
Command process_describe_command() {
  return {"process describe",
          "processes",
          "Shows how far a process is, what it did, and what fails.",
          "evershard process describe transfers --data shop",
          process_name_options,
          run_process_describe};
}
Command process_instances_command() {
  return {"process instances",
          "processes",
          "Lists the instances of a process.",
          "evershard process instances transfers --failing --data shop",
          process_instances_options,
          run_process_instances,
          nullptr,
          "An instance is an aggregate: `evershard aggregate history NAME-INSTANCE` shows what happened to it."};
}
Command process_parked_command() {
  return {"process parked",
          "processes",
          "Lists the effects of a process that were given up.",
          "evershard process parked transfers --data shop",
          process_name_options,
          run_process_parked};
}
Command process_stop_command() {
  return {"process stop",
          "processes",
          "Stops a process, or one of its instances. What is under way ends.",
          "evershard process stop transfers --server 127.0.0.1:7420",
          process_instance_options,
          run_process_stop};
}
Command process_resume_command() {
  return {"process resume",
          "processes",
          "Lets a stopped process, or instance, go on where it was.",
          "evershard process resume transfers --server 127.0.0.1:7420",
          process_instance_options,
          run_process_resume};
}
Command process_retry_command() {
  return {"process retry",
          "processes",
          "Tries again at once what waits to be tried again.",
          "evershard process retry transfers --instance rome --server 127.0.0.1:7420",
          process_instance_options,
          run_process_retry};
}
Command process_skip_command() {
  return {
      "process skip",
      "processes",
      "Passes over an event, a command or an effect that fails.",
      "evershard process skip transfers command/23/0 --server 127.0.0.1:7420",
      process_item_options,
      run_process_skip,
      nullptr,
      "The instance is not told a skipped event, a skipped command is not sent. Of a skipped effect the instance is "
      "told that it was not performed."};
}
Command process_replay_command() {
  return {
      "process replay",
      "processes",
      "Performs an effect once more that was given up.",
      "evershard process replay transfers effect/23/0 --server 127.0.0.1:7420",
      process_replay_options,
      run_process_replay,
      nullptr,
      "It has the same idempotency key as before. Where it succeeds, the instance is told; where it is given up once "
      "more, it stays parked."};
}

}  // namespace evershard::cli
