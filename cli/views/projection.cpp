// `evershard projection create, change, list, describe, pause, resume, reset, rebuild, drop`: how what is derived from
// events is, and what is to happen to it.

#include "evershard/cli/command.hpp"
#include "evershard/cli/views/projection_rows.hpp"

namespace evershard::cli {
namespace {

bool any_projection(const ProjectionInfo&) { return true; }

Options projection_options() {
  Options options = store_options();
  options.argument("NAME", "the projection's name");
  return options;
}

// ---- create, change

Options projection_create_options() {
  Options options = projection_options();
  options.argument("FILE", "a file with the definition as JSON; - is standard input");
  options.value("kind", "KIND", "what it is a definition of: table, value or index", "table")
      .such_as({"table", "value", "index"})
      .flag("if-absent", "one of that name and the same definition is there: do nothing, and show it")
      .flag("wait", "return when it shows all events that are there now");
  return options;
}

Options projection_change_options() {
  Options options = projection_options();
  options.argument("FILE", "a file with the new definition as JSON; - is standard input");
  options.value("expected", "VERSION", "the version that must be the last one now; without it, any")
      .flag("wait", "return when the new version shows all events that are there now");
  return options;
}

Outcome projection_create(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto spec = read_definition(arguments.required("FILE"));
  if (!spec) return Failed(Failure(spec.error()));
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto head = store->head();
  if (!head) return Failed(Failure(head.error()));
  return print_made(
      invocation, *store,
      store->projections().create(arguments.required("NAME"), *arguments.text("kind"), *spec, if_there(arguments)),
      *head);
}

Outcome projection_change(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto spec = read_definition(arguments.required("FILE"));
  if (!spec) return Failed(Failure(spec.error()));
  std::optional<SeqNr> expected;
  if (const auto number = arguments.number("expected")) expected = SeqNr(*number);
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto name = arguments.required("NAME");
  auto changed = store->projections().change(name, *spec, expected);
  if (!changed) return Failed(Failure(std::move(changed).error()));
  // The event of the change: which no version that was there before has passed.
  const auto head = store->head();
  if (!head) return Failed(Failure(head.error()));
  return print_made(invocation, *store, std::move(changed), *head);
}

// ---- what is there

Outcome projection_list(const Invocation& invocation) { return list_projections(invocation, any_projection); }

Outcome projection_describe(const Invocation& invocation) {
  const auto name = invocation.arguments.required("NAME");
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto info = once_looked_at(
      invocation, [&] { return store->projections().describe(name); }, is_building);
  if (!info) return Failed(Failure(info.error()));
  print_projection(invocation, *info);
  return {};
}

template <Projections::Ask what>
Outcome projection_ask(const Invocation& invocation) {
  return ask_projection(invocation, what, any_projection);
}

}  // namespace

Command projection_create_command() {
  return {"projection create",
          "projections",
          "Creates a table or another projection from its definition.",
          "evershard projection create orders orders.json --data shop",
          projection_create_options,
          projection_create};
}
Command projection_change_command() {
  return {"projection change",
          "projections",
          "Gives a projection a new definition, built beside the one in use.",
          "evershard projection change orders orders.json --data shop",
          projection_change_options,
          projection_change};
}
Command projection_list_command() {
  return {"projection list",
          "projections",
          "Lists indexes, tables and other projections.",
          "evershard projection list --data shop",
          store_options,
          projection_list};
}
Command projection_describe_command() {
  return {"projection describe",
          "projections",
          "Shows a projection's definition, versions, progress and errors.",
          "evershard projection describe by-city --data shop",
          projection_options,
          projection_describe};
}
Command projection_pause_command() {
  return {"projection pause",
          "projections",
          "Stops a projection. What it holds can still be read.",
          "evershard projection pause by-city --data shop",
          projection_options,
          projection_ask<Projections::Ask::pause>};
}
Command projection_resume_command() {
  return {"projection resume",
          "projections",
          "Continues a projection that was paused or that an error stopped.",
          "evershard projection resume by-city --data shop",
          projection_options,
          projection_ask<Projections::Ask::resume>};
}
Command projection_reset_command() {
  return {"projection reset",
          "projections",
          "Deletes a projection's rows at once and builds them again.",
          "evershard projection reset by-city --data shop",
          projection_options,
          projection_ask<Projections::Ask::reset>};
}
Command projection_rebuild_command() {
  return {"projection rebuild",
          "projections",
          "Builds a projection again beside the rows in use, then swaps them.",
          "evershard projection rebuild by-city --data shop",
          projection_options,
          projection_ask<Projections::Ask::rebuild>};
}
Command projection_drop_command() {
  return {"projection drop",
          "projections",
          "Drops a projection and its rows.",
          "evershard projection drop by-city --data shop",
          projection_options,
          projection_ask<Projections::Ask::drop>};
}

}  // namespace evershard::cli
