// `evershard table list, describe, select, parked, retry, discard`: what table projections made.

#include <algorithm>
#include <limits>

#include "evershard/api/json/table_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/views/projection_rows.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::cli {
namespace {

constexpr std::size_t settled_a_step = 500;

Options table_options() {
  Options options = store_options();
  options.argument("TABLE", "the projection's name");
  return options;
}

std::uint64_t figure_of(const TableInfo& info, std::string_view name) {
  for (const auto& [each, value] : info.figures) {
    if (each == name) return value;
  }
  return 0;
}

Outcome list_tables(const Invocation& invocation) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto head = store->head();
  if (!head) return Failed(Failure(head.error()));
  const auto begins = [&](const TableInfo& table) { return table.state == "building" && table.position < *head; };
  const auto tables = once_looked_at(
      invocation, [&] { return store->tables().list_tables(); },
      [&](const auto& all) { return std::ranges::any_of(all, begins); });
  if (!tables) return Failed(Failure(tables.error()));
  ListPrinter printer(
      invocation,
      {{"TABLE", false, 60}, {"STATE"}, {"ROWS", true}, {"POSITION", true}, {"PARKED", true}, {"ERROR", false, 80}});
  JsonText json;
  for (const auto& info : *tables) {
    if (invocation.for_people()) {
      printer.row({info.projection, info.state, std::to_string(figure_of(info, "rows")),
                   std::to_string(info.position.value), std::to_string(figure_of(info, "parked")), info.error});
    } else {
      json.clear();
      cluster::write_table_info(json, info);
      printer.json(json.text());
    }
  }
  printer.finish();
  return {};
}

Outcome describe_table(const Invocation& invocation) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto head = store->head();
  if (!head) return Failed(Failure(head.error()));
  const auto info = once_looked_at(
      invocation, [&] { return store->tables().describe_table(invocation.arguments.required("TABLE")); },
      [&](const TableInfo& table) { return table.state == "building" && table.position < *head; });
  if (!info) return Failed(Failure(info.error()));
  JsonText json;
  cluster::write_table_info(json, *info);
  std::vector<std::pair<std::string, std::string>> parts{{"table", info->projection},
                                                         {"state", info->state},
                                                         {"version", std::to_string(info->version.value)},
                                                         {"position", std::to_string(info->position.value)}};
  if (!info->error.empty()) parts.emplace_back("error", info->error);
  for (const auto& field : info->schema.fields) {
    parts.emplace_back("field " + field.name, std::string(name_of(field.type)) + ", " +
                                                  std::string(name_of(field.role)) +
                                                  (field.nullable ? ", nullable" : ""));
  }
  for (const auto& [name, value] : info->figures) parts.emplace_back(name, std::to_string(value));
  print_one(invocation, json, parts);
  return {};
}

Options select_options() {
  Options options = table_options();
  options.value("where", "FILTER", "only rows that match, such as \"total > 10 AND customer = :c\"")
      .values("param", "NAME=VALUE", "a parameter of the filter: :NAME, or ?1 as 1=VALUE; the value is JSON, else text")
      .values("field", "NAME", "only these fields")
      .values("order", "NAME", "sort by this field; -NAME: descending")
      .value("limit", "N", "show at most this many rows; without it, all")
      .value("at-least", "POSITION", "wait until the table has passed this position")
      .value("version", "N", "read this version of the table")
      .flag("explain", "show how rows would be found, without reading them");
  return options;
}

Result<TableSelect> select_of(const Arguments& arguments) {
  TableSelect select;
  select.where = arguments.text("where").value_or("");
  if (!is_utf8(select.where))
    return refuse(ErrorCode::invalid_argument, "filter: not UTF-8: " + in_quotes(select.where));
  for (const auto& given : arguments.texts("param")) EVERSHARD_TRY(cluster::add_parameter(given, select.parameters));
  for (const auto& given : arguments.texts("field")) EVERSHARD_TRY(cluster::add_field(given, select.fields));
  for (const auto& given : arguments.texts("order")) EVERSHARD_TRY(cluster::add_order(given, select.order_by));
  return select;
}

std::string cell_of(FieldType type, const TableValue& value) {
  if (const auto* text = value.as<std::string>(); text != nullptr && type != FieldType::bytes)
    return payload_cell(*text);
  if (const auto* time = value.as<Timestamp>()) return time->text();
  JsonText json;
  cluster::write_value(json, type, value);
  return json.take();
}

Outcome select_rows(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto table = arguments.required("TABLE");
  auto select = select_of(arguments);
  if (!select) return Failed(Failure(std::move(select).error()));
  TableReading reading;
  reading.at_least = position_of(arguments, "at-least");
  if (const auto version = arguments.number("version")) reading.version = SeqNr(*version);
  std::uint64_t left = arguments.number("limit").value_or(std::numeric_limits<std::uint64_t>::max());
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  auto& tables = store->tables();

  if (arguments.has("explain")) {
    const auto plan = tables.explain(table, *select, reading);
    if (!plan) return Failed(Failure(plan.error()));
    JsonText json;
    json.begin_object().key("plan").string(plan->text()).end_object();
    print_one(invocation, json, {{"plan", plan->text()}});
    return {};
  }
  const auto info = tables.describe_table(table, reading);
  if (!info) return Failed(Failure(info.error()));
  reading.version = info->version;  // of which these are the fields
  std::vector<Table::Column> columns;
  std::vector<std::string> names = select->fields;
  if (names.empty()) {
    for (const auto& field : info->schema.fields) names.push_back(field.name);
  }
  for (const auto& name : names) columns.push_back({name, false, 60});
  ListPrinter printer(invocation, columns);
  JsonText json;
  while (left != 0 && !invocation.out.ended()) {
    select->limit = std::min(left, table_page_rows_default);
    const auto page =
        read_when_there(invocation, *store, reading, [&] { return tables.select(table, *select, reading); });
    if (!page) {
      printer.finish();
      return Failed(Failure(page.error()));
    }
    for (const auto& row : page->rows) {
      if (invocation.for_people()) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < row.size(); ++i)
          cells.push_back(row[i].is_null() ? "" : cell_of(page->types[i], row[i]));
        printer.row(std::move(cells));
      } else {
        json.clear();
        cluster::write_row(json, page->fields, page->types, row);
        printer.json(json.text());
      }
    }
    left -= page->rows.size();
    if (page->next.empty()) break;
    select->continue_from = page->next;
    if (interrupted()) return stopped_in_the_middle(printer);
  }
  printer.finish();
  // Now: a process of its own may have met what it stands at while it made these rows.
  const auto head = store->head();
  const auto now = once_looked_at(
      invocation, [&] { return tables.describe_table(table, reading); },
      [&](const TableInfo& at) { return at.state == "building" && head && at.position < *head; });
  if (!now || now->state != "failed") return {};
  return Failed(Failure(ErrorCode::unavailable,
                        "these are rows as of position " + std::to_string(now->position.value) + ": table " +
                            in_quotes(table) + " has failed and stands there: " + now->error,
                        "mend the cause, then `evershard projection resume " + table + "`"));
}

Options parked_options() {
  Options options = table_options();
  options.number("after", "POSITION", "only those after this position", 0);
  return options;
}

Outcome list_parked(const Invocation& invocation) {
  auto after = position_of(invocation.arguments, "after").value_or(GlobalPosition{});
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  ListPrinter printer(invocation, {{"POSITION", true},
                                   {"KIND"},
                                   {"TYPE", false, 40},
                                   {"AGGREGATE", false, 40},
                                   {"ATTEMPTS", true},
                                   {"PART", true},
                                   {"REASON", false, 120}});
  JsonText json;
  for (;;) {
    const auto parked = store->tables().parked(invocation.arguments.required("TABLE"), after);
    if (!parked) {
      printer.finish();
      return Failed(Failure(parked.error()));
    }
    for (const auto& each : *parked) {
      if (invocation.for_people()) {
        printer.row({std::to_string(each.position.value), each.kind, each.type, each.aggregate,
                     std::to_string(each.attempts), each.part ? std::to_string(*each.part) : std::string(),
                     each.reason});
      } else {
        json.clear();
        cluster::write_parked(json, each);
        printer.json(json.text());
      }
      after = each.position;
    }
    if (parked->empty() || invocation.out.ended()) break;
    if (interrupted()) return stopped_in_the_middle(printer);
  }
  printer.finish();
  return {};
}

Options settle_options() {
  Options options = table_options();
  options.values("position", "POSITION", "the event at this position; may be given more than once")
      .flag("all", "all parked events, step by step");
  return options;
}

struct Settled {
  GlobalPosition position{};  ///< once the table has passed it, it is done
  std::uint64_t events = 0;
};

/// All that are parked now, step by step: what a step settles is one write of the table. What is parked meanwhile, or
/// again, is left. Errors: as of parked(), wait_until(); cancelled. Steps before it hold.
Result<Settled> settle_all(OpenedStore& store, const std::string& table, bool discard,
                           std::chrono::milliseconds timeout) {
  auto& tables = store.tables();
  const auto head = store.head();
  if (!head) return refuse(head.error());
  Settled settled{*head};
  GlobalPosition after{};
  for (;;) {
    const auto there = store.projections().wait_until(table, settled.position, timeout);
    if (!there)
      return refuse(there.error().code,
                    std::to_string(settled.events) + " were given out, and then: " + there.error().what);
    if (interrupted())
      return refuse(ErrorCode::cancelled, "stopped after " + std::to_string(settled.events) + " events");
    const auto parked = tables.parked(table, after, settled_a_step);
    if (!parked) return refuse(parked.error());
    std::vector<GlobalPosition> positions;
    for (const auto& each : *parked) {
      if (each.position <= *head) positions.push_back(each.position);
    }
    if (positions.empty()) return settled;
    after = positions.back();
    settled.events += positions.size();
    const auto done =
        discard ? tables.discard_parked(table, std::move(positions)) : tables.retry_parked(table, std::move(positions));
    if (!done) return refuse(done.error());
    settled.position = *done;
  }
}

Outcome settle(const Invocation& invocation, bool discard) {
  const auto& arguments = invocation.arguments;
  const auto given = arguments.texts("position");
  if (given.empty() != arguments.has("all"))
    return Failed(Failure(ErrorCode::invalid_argument, "either --position or --all"));
  std::vector<GlobalPosition> positions;
  for (const auto& each : given) {
    const auto number = whole_number(each);
    if (!number) return Failed(Failure(ErrorCode::invalid_argument, "--position " + each + " is no position"));
    positions.emplace_back(*number);
  }
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto table = arguments.required("TABLE");
  Settled settled{.events = positions.size()};
  if (positions.empty()) {
    const auto all = settle_all(*store, table, discard, rows_timeout(invocation));
    if (!all) return Failed(Failure(all.error()));
    settled = *all;
  } else {
    // The order is an event that is there for good, whatever it names.
    for (const auto position : positions) {
      const auto parked =
          store->tables().parked(table, GlobalPosition(position.value - std::min<std::uint64_t>(position.value, 1)), 1);
      if (!parked) return Failed(Failure(parked.error()));
      if (parked->empty() || parked->front().position != position) {
        return Failed(Failure(ErrorCode::not_found, "table " + in_quotes(table) + " has no parked event at position " +
                                                        std::to_string(position.value)));
      }
    }
    const auto done = discard ? store->tables().discard_parked(table, std::move(positions))
                              : store->tables().retry_parked(table, std::move(positions));
    if (!done) return Failed(Failure(done.error()));
    settled.position = *done;
  }
  JsonText json;
  json.begin_object().key("position").number(settled.position.value).key("events").number(settled.events).end_object();
  print_one(invocation, json,
            {{"events", std::to_string(settled.events)},
             {"done once the table has passed", std::to_string(settled.position.value)}});
  return {};
}

Outcome retry_parked(const Invocation& invocation) { return settle(invocation, false); }
Outcome discard_parked(const Invocation& invocation) { return settle(invocation, true); }

}  // namespace

Command table_list_command() {
  return {"table list",
          "projections",
          "Lists the tables, how far each is and what stops it.",
          "evershard table list --data shop",
          store_options,
          list_tables};
}
Command table_describe_command() {
  return {"table describe",
          "projections",
          "Shows a table's fields, version, position and figures.",
          "evershard table describe orders --data shop",
          table_options,
          describe_table};
}
Command table_select_command() {
  return {"table select",
          "projections",
          "Shows the rows of a table that match a filter.",
          "evershard table select orders --data shop --where \"total > 10\" --order -total --limit 20",
          select_options,
          select_rows};
}
Command table_parked_command() {
  return {"table parked",
          "projections",
          "Lists the events that do not fit a table, and why.",
          "evershard table parked orders --data shop",
          parked_options,
          list_parked};
}
Command table_retry_command() {
  return {"table retry",
          "projections",
          "Applies parked events again.",
          "evershard table retry orders --data shop --position 17",
          settle_options,
          retry_parked};
}
Command table_discard_command() {
  return {"table discard",
          "projections",
          "Gives up parked events.",
          "evershard table discard orders --data shop --position 17",
          settle_options,
          discard_parked};
}

}  // namespace evershard::cli
