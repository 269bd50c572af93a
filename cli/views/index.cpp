// `evershard index create, list, read, drop`: a query's matches by number, events by value.

#include <algorithm>

#include "evershard/api/json/projection_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/type_flags.hpp"
#include "evershard/cli/views/projection_rows.hpp"
#include "evershard/services/indexes/query_spec.hpp"

namespace evershard::cli {
namespace {

Options index_create_options() {
  Options options = store_options();
  options.argument("NAME", "the name of a value index; an index of a query is named by its query", false);
  add_query_flags(options);
  options
      .value("path", "JSON-PATH", "create a value index; where the value is, such as $.customer.city or $.items[0].sku")
      .value("value", "TYPE", "what the values are: text, integer, number, boolean or time", "text")
      .such_as({"text", "integer", "number", "boolean", "time"})
      .value("source", "WHERE", "where the path begins: in the payload or in the metadata", "payload")
      .such_as({"payload", "metadata"})
      .flag("if-absent", "one of that name and the same definition is there: do nothing, and show it")
      .flag("wait", "return when the index shows all events that are there now");
  return options;
}

Outcome index_create(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto name = arguments.text("NAME");
  const auto path = arguments.text("path");
  if (name.has_value() != path.has_value())
    throw UsageError("a value index has a NAME and a --path", "an index of a query has neither");
  if (!path) {
    if (arguments.has("value") || arguments.has("source")) throw UsageError("--value and --source need --path");
  }
  auto query = query_of(arguments);
  if (!query) return Failed(Failure(std::move(query).error()));
  if (path && (!*query || (*query)->items().size() != 1 || !(*query)->items().front().tags.empty() ||
               !(*query)->items().front().concerning.empty()))
    throw UsageError("a value index is of event types: --type TYPE, once or more");
  if (!*query) throw UsageError("which events? --type, --tag, --concerning, --or, or --query");
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto head = store->head();
  if (!head) return Failed(Failure(head.error()));
  auto& projections = store->projections();
  auto made =
      path ? projections.create_value_index(
                 *name, {(*query)->items().front().types, *arguments.text("source"), *path, *arguments.text("value")},
                 if_there(arguments))
           : projections.create_index(**query);
  return print_made(invocation, *store, std::move(made), *head);
}

Outcome index_list(const Invocation& invocation) {
  return list_projections(invocation,
                          [](const ProjectionInfo& info) { return info.kind == "index" || info.kind == "value"; });
}

Options index_read_options() {
  Options options = store_options();
  options.argument("NAME", "the index's name; without it, the index of the query", false);
  add_query_flags(options);
  add_rows_flags(options);
  options
      .value("start", "NUMBER",
             "for an index of a query: start at this number; without it, at the first or, backwards, at the last")
      .value("equal", "VALUE", "for a value index: only this value")
      .value("from", "VALUE", "for a value index: this value and greater ones")
      .value("to", "VALUE", "for a value index: up to this value, inclusive")
      .value("until", "VALUE", "for a value index: up to this value, exclusive")
      .number("limit", "N", "show at most this many", 100)
      .flag("backwards", "show the last first")
      .flag("events", "show the events too");
  add_type_flags(options);
  return options;
}

RowsAsked rows_of(const Arguments& arguments) {
  auto rows = rows_asked(arguments);
  rows.events = arguments.has("events");
  return rows;
}

std::string shown_event(const std::optional<RecordedEvent>& event, const PayloadTypes& types) {
  return event ? event->type + " " + payload_cell(*event, types) : std::string();
}

Outcome read_numbers(const Invocation& invocation, OpenedStore& store, const std::string& name,
                     const PayloadTypes& types) {
  const auto& arguments = invocation.arguments;
  arguments.refuse_beside("an index of a query", {"equal", "from", "to", "until"});
  IndexRead read{arguments.number("start"), 0, arguments.has("backwards") ? Direction::backwards : Direction::forwards,
                 rows_of(arguments)};
  auto left = *arguments.number("limit");
  bool more = false;
  ListPrinter printer(invocation, {{"NUMBER", true}, {"POSITION", true}, {"EVENT", false, 80}});
  JsonText json;
  Outcome outcome;
  while (left != 0 && !invocation.out.ended()) {
    read.limit = std::min<std::uint64_t>(left, index_page_max);
    const auto page =
        read_when_there(invocation, store, read.rows, [&] { return store.projections().read_index(name, read); });
    if (!page) {
      outcome = Failed(Failure(page.error()));
      break;
    }
    for (const auto& entry : page->entries) {
      if (invocation.for_people()) {
        printer.row(
            {std::to_string(entry.number), std::to_string(entry.position.value), shown_event(entry.event, types)});
      } else {
        json.clear();
        write_index_entry(json, entry, types);
        printer.json(json.text());
      }
    }
    left -= page->entries.size();
    if (page->entries.empty()) break;
    const auto last = page->entries.back().number;  // a page may end before its limit
    if (last == (read.direction == Direction::backwards ? 1 : page->count)) break;
    read.start = read.direction == Direction::backwards ? last - 1 : last + 1;
    more = left == 0;
    if (left != 0 && interrupted()) return stopped_in_the_middle(printer);
  }
  printer.finish();
  if (more && !invocation.out.ended())
    say_there_is_more("--start " + std::to_string(*read.start) + " goes on, --limit is how many are shown");
  return outcome;
}

Outcome read_values(const Invocation& invocation, OpenedStore& store, const std::string& name,
                    const PayloadTypes& types) {
  const auto& arguments = invocation.arguments;
  arguments.refuse_beside("a value index", {"start"});
  ValueRead read{arguments.text("equal"),
                 arguments.text("from"),
                 arguments.text("to"),
                 arguments.text("until"),
                 {},
                 0,
                 arguments.has("backwards") ? Direction::backwards : Direction::forwards,
                 rows_of(arguments)};
  auto left = *arguments.number("limit");
  ListPrinter printer(invocation, {{"VALUE", false, 60}, {"POSITION", true}, {"EVENT", false, 80}});
  JsonText json;
  Outcome outcome;
  while (left != 0 && !invocation.out.ended()) {
    read.limit = std::min<std::uint64_t>(left, index_page_max);
    auto page =
        read_when_there(invocation, store, read.rows, [&] { return store.projections().read_values(name, read); });
    if (!page) {
      outcome = Failed(Failure(std::move(page).error()));
      break;
    }
    for (const auto& entry : page->entries) {
      if (invocation.for_people()) {
        printer.row({entry.value, std::to_string(entry.position.value), shown_event(entry.event, types)});
      } else {
        json.clear();
        write_value_entry(json, entry, types);
        printer.json(json.text());
      }
    }
    left -= page->entries.size();
    read.after = std::move(page->next);
    if (read.after.empty()) break;
    if (left != 0 && interrupted()) return stopped_in_the_middle(printer);
  }
  printer.finish();
  if (outcome && left == 0 && !read.after.empty() && !invocation.out.ended())
    say_there_is_more("a larger --limit, or a range, shows it");
  return outcome;
}

Outcome index_read(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  auto name = arguments.text("NAME");
  auto query = query_of(arguments);
  if (!query) return Failed(Failure(std::move(query).error()));
  if (name.has_value() == query->has_value())
    throw UsageError("which index? Either its NAME, or the query that it is of");
  if (!name) name = actors::index_name(**query);
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto types = payload_types(invocation);
  if (!types) return Failed(types.error());
  const auto info = store->projections().describe(*name);
  if (!info) {
    if (*query && info.error().code == ErrorCode::not_found)
      return Failed(Failure(ErrorCode::not_found, "there is no index of this query (" + *name + ")",
                            "`evershard index create` with the same query makes it"));
    return Failed(Failure(info.error()));
  }
  return info->kind == "value" ? read_values(invocation, *store, *name, *types)
                               : read_numbers(invocation, *store, *name, *types);
}

Options index_drop_options() {
  Options options = store_options();
  options.argument("NAME", "the index's name");
  return options;
}

Outcome index_drop(const Invocation& invocation) {
  return ask_projection(invocation, Projections::Ask::drop,
                        [](const ProjectionInfo& info) { return info.kind == "index" || info.kind == "value"; });
}

}  // namespace

Command index_create_command() {
  return {"index create",
          "projections",
          "Creates an index: of a query's matches, or of a value in events.",
          "evershard index create by-city --data shop --type OrderPlaced --path '$.customer.city'",
          index_create_options,
          index_create};
}
Command index_list_command() {
  return {"index list",
          "projections",
          "Lists the indexes: how far each is and what it holds.",
          "evershard index list --data shop",
          store_options,
          index_list};
}
Command index_read_command() {
  return {"index read",
          "projections",
          "Reads an index by number or by value.",
          "evershard index read by-city --data shop --equal Lyon --events",
          index_read_options,
          index_read};
}
Command index_drop_command() {
  return {"index drop",       "projections", "Drops an index and its rows.", "evershard index drop by-city --data shop",
          index_drop_options, index_drop};
}

}  // namespace evershard::cli
