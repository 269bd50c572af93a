// `evershard group create, change, list, describe, reset, drop`.

#include "evershard/api/json/group_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/groups/group_flags.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/store_info.hpp"

namespace evershard::cli {
namespace {

/// Shape: `ask`: Result<GroupInfo>(Groups&)
template <class Ask>
Outcome show_group(const Invocation& invocation, Ask ask) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto group = ask(store->groups());
  if (!group) return Failed(Failure(group.error()));
  print_group(invocation, *group);
  return {};
}

Options group_create_options() {
  Options options = store_options();
  options.argument("NAME", "the group's name: 1 to 64 of a-z, A-Z, 0-9, '.', '_' and '-'");
  add_query_flags(options);
  add_start_flags(options);
  add_setting_flags(options, true);
  options.flag("if-absent", "one of that name, query and settings is there: do nothing, and show it");
  return options;
}

Outcome run_group_create(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  GroupDefinition definition{.name = arguments.required("NAME")};
  auto query = query_of(arguments);
  if (!query) return Failed(Failure(std::move(query).error()));
  if (*query) definition.query = **std::move(query);
  definition.after = start_asked(arguments);
  setting_flags(arguments).apply(definition.settings);
  return show_group(invocation, [&](Groups& groups) {
    return groups.create_group(definition, arguments.has("if-absent") ? IfThere::give : IfThere::refuse);
  });
}

Options group_change_options() {
  Options options = store_options();
  options.argument("NAME", "the group's name");
  add_setting_flags(options, false);
  return options;
}

Outcome run_group_change(const Invocation& invocation) {
  const auto name = invocation.arguments.required("NAME");
  const auto change = setting_flags(invocation.arguments);
  return show_group(invocation, [&](Groups& groups) { return groups.change_group(name, change); });
}

Options group_name_options() {
  Options options = store_options();
  options.argument("NAME", "the group's name");
  return options;
}

Outcome run_group_describe(const Invocation& invocation) {
  return show_group(invocation, [&](Groups& groups) { return groups.group(invocation.arguments.required("NAME")); });
}

Options group_reset_options() {
  Options options = group_name_options();
  add_start_flags(options);
  return options;
}

Outcome run_group_reset(const Invocation& invocation) {
  const auto start = start_asked(invocation.arguments);
  return show_group(invocation,
                    [&](Groups& groups) { return groups.reset_group(invocation.arguments.required("NAME"), start); });
}

Outcome run_group_drop(const Invocation& invocation) {
  const auto name = invocation.arguments.required("NAME");
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  if (auto dropped = store->groups().drop_group(name); !dropped) return Failed(Failure(std::move(dropped).error()));
  JsonText json;
  json.begin_object().key("group").string(name).key("dropped").boolean(true).end_object();
  print_one(invocation, json, {{"dropped", "the group " + name}});
  return {};
}

Outcome run_group_list(const Invocation& invocation) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto groups = store->groups().list_groups();
  if (!groups) return Failed(Failure(groups.error()));
  ListPrinter printer(invocation, {{"GROUP"},
                                   {"POSITION", true},
                                   {"LAG", true},
                                   {"UNSETTLED", true},
                                   {"IN FLIGHT", true},
                                   {"PARKED", true},
                                   {"WORKERS", true},
                                   {"TROUBLE"}});
  JsonText json;
  for (const auto& group : *groups) {
    if (invocation.for_people()) {
      printer.row({group.definition.name, grouped(group.position.value), grouped(group.lag()), grouped(group.unsettled),
                   grouped(group.in_flight), grouped(group.parked), std::to_string(group.workers.size()),
                   group.trouble});
      continue;
    }
    json.clear();
    write_group(json, group);
    printer.json(json.text());
  }
  printer.finish();
  return {};
}

}  // namespace

Command group_create_command() {
  return {"group create",
          "consumer groups",
          "Creates a consumer group: a named subscription that workers share.",
          "evershard group create billing --data shop --type OrderPlaced --from-now",
          group_create_options,
          run_group_create};
}
Command group_change_command() {
  return {"group change",
          "consumer groups",
          "Changes a group's settings. Those that are not named stay.",
          "evershard group change billing --data shop --attempts 5",
          group_change_options,
          run_group_change};
}
Command group_list_command() {
  return {"group list",  "consumer groups", "Lists the groups with their lag.", "evershard group list --data shop",
          store_options, run_group_list};
}
Command group_describe_command() {
  return {"group describe",
          "consumer groups",
          "Shows a group's position, lag, workers and settings.",
          "evershard group describe billing --data shop",
          group_name_options,
          run_group_describe};
}
Command group_reset_command() {
  return {"group reset",
          "consumer groups",
          "Starts a group again at a position. It forgets settled and parked events.",
          "evershard group reset billing --data shop --after 1000",
          group_reset_options,
          run_group_reset};
}
Command group_drop_command() {
  return {"group drop",       "consumer groups", "Drops a group.", "evershard group drop billing --data shop",
          group_name_options, run_group_drop};
}

}  // namespace evershard::cli
