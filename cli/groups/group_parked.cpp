// `evershard group parked, replay, discard`.

#include <algorithm>

#include "evershard/api/json/group_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/print.hpp"

namespace evershard::cli {
namespace {

constexpr std::uint64_t parked_shown = 100, parked_most = 1u << 30;

Options group_parked_options() {
  Options options = store_options();
  options.argument("NAME", "the group's name");
  options.number("after", "POSITION", "only those after this position", 0)
      .number("limit", "N", "show at most this many", parked_shown);
  return options;
}

Outcome run_group_parked(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto limit = arguments.number_at_least("limit", 1);
  // One more than is shown says whether there is more.
  auto parked = store->groups().parked_events(arguments.required("NAME"),
                                              position_of(arguments, "after").value_or(GlobalPosition{0}),
                                              std::min(limit, parked_most) + 1);
  if (!parked) return Failed(Failure(std::move(parked).error()));
  const bool more = parked->size() > limit;
  if (more) parked->pop_back();
  ListPrinter printer(invocation,
                      {{"POSITION", true}, {"AGGREGATE"}, {"TYPE"}, {"ATTEMPTS", true}, {"PARKED AT"}, {"REASON"}});
  JsonText json;
  for (const auto& one : *parked) {
    if (invocation.for_people()) {
      printer.row({std::to_string(one.position.value), one.aggregate ? one.aggregate->text() : "", one.type,
                   std::to_string(one.attempts), one.parked_at.text(), one.reason});
      continue;
    }
    json.clear();
    write_parked_event(json, one);
    printer.json(json.text());
  }
  printer.finish();
  if (more)
    say_there_is_more("--after " + std::to_string(parked->back().position.value) +
                      " goes on, --limit is how many are shown");
  return {};
}

Options group_parked_one_options() {
  Options options = store_options();
  options.argument("NAME", "the group's name");
  options.value("position", "POSITION", "the event at this position").flag("all", "all parked events");
  return options;
}

using ChangeParked = Result<std::uint64_t> (Groups::*)(const std::string& name, std::optional<GlobalPosition> position);

Outcome change_parked(const Invocation& invocation, ChangeParked change, const char* done) {
  const auto& arguments = invocation.arguments;
  const auto position = position_of(arguments, "position");
  if (arguments.has("all"))
    arguments.refuse_beside("--all", {"position"});
  else if (!position)
    throw UsageError("which? Give --position or --all");
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto events = (store->groups().*change)(arguments.required("NAME"), position);
  if (!events) return Failed(Failure(events.error()));
  JsonText json;
  json.begin_object().key("group").string(arguments.required("NAME")).key(done).number(*events).end_object();
  print_one(invocation, json, {{done, std::to_string(*events) + " events"}});
  return {};
}

Outcome run_group_replay(const Invocation& invocation) {
  return change_parked(invocation, &Groups::replay_parked, "replayed");
}
Outcome run_group_discard(const Invocation& invocation) {
  return change_parked(invocation, &Groups::discard_parked, "discarded");
}

}  // namespace

Command group_parked_command() {
  return {"group parked",
          "consumer groups",
          "Lists a group's parked events, each with its reason.",
          "evershard group parked billing --data shop",
          group_parked_options,
          run_group_parked};
}
Command group_replay_command() {
  return {"group replay",
          "consumer groups",
          "Delivers parked events again, with all their attempts.",
          "evershard group replay billing --data shop --all",
          group_parked_one_options,
          run_group_replay};
}
Command group_discard_command() {
  return {"group discard",
          "consumer groups",
          "Settles parked events without delivering them again.",
          "evershard group discard billing --data shop --position 17",
          group_parked_one_options,
          run_group_discard};
}

}  // namespace evershard::cli
