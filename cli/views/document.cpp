// `evershard document`: documents: what they are made by, how far they are, one of them, a list, out of sight.

#include <algorithm>

#include "evershard/api/json/document_json.hpp"
#include "evershard/api/json/json_indent.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/views/projection_rows.hpp"

namespace evershard::cli {
namespace {

constexpr std::uint64_t listed_default = 1'000;

void print_definitions(const Invocation& invocation, const std::vector<DocumentDefinition>& definitions) {
  ListPrinter list(invocation, {{"type"}, {"version"}, {"since"}, {"definition"}});
  for (const auto& definition : definitions) {
    if (invocation.for_people()) {
      list.row({definition.type, std::to_string(definition.version.value), grouped(definition.since.value),
                definition.spec});
      continue;
    }
    JsonText json;
    write_document_definition(json, definition);
    list.json(json.text());
  }
  list.finish();
}

// ---- define, definitions, drop

Options define_options() {
  Options options = store_options();
  options.argument("TYPE", "the aggregates' type, such as order")
      .argument("FILE", "a file with the definition as JSON; - is standard input");
  options.value("expected", "VERSION", "the version the definition must have now; 0: there is none; without it, any");
  options
      .flag("rebuild",
            "build the documents again from the events that are left, also with the same definition; after an erasure")
      .flag("wait", "return when the documents of this definition are in use");
  return options;
}

Outcome run_define(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  auto spec = read_definition(arguments.required("FILE"));
  if (!spec) return Failed(Failure(std::move(spec).error()));
  std::optional<SeqNr> expected;
  if (const auto number = arguments.number("expected")) expected = SeqNr(*number);
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto type = arguments.required("TYPE");
  const auto defined = store->documents().define(type, *spec, expected, arguments.has("rebuild"));
  if (!defined) return Failed(Failure(defined.error()));
  if (arguments.has("wait")) {
    DocumentListing listing{.type = type, .limit = 1, .at_least = defined->since, .definition = defined->version};
    const auto there = read_when_there(invocation, *store, listing, [&] { return store->documents().list(listing); });
    if (!there) return Failed(Failure(there.error()));
  }
  print_definitions(invocation, {*defined});
  return {};
}

Outcome run_definitions(const Invocation& invocation) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto all = store->documents().definitions();
  if (!all) return Failed(Failure(all.error()));
  print_definitions(invocation, *all);
  return {};
}

// ---- describe

Options describe_options() {
  Options options = store_options();
  options.argument("TYPE", "the aggregates' type, such as order");
  return options;
}

Outcome run_describe(const Invocation& invocation) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto info = once_looked_at(
      invocation, [&] { return store->documents().describe(invocation.arguments.required("TYPE")); }, is_building);
  if (!info) return Failed(Failure(info.error()));
  print_projection(invocation, *info);
  return {};
}

Options drop_options() {
  Options options = store_options();
  options.argument("TYPE", "the aggregates' type, such as order");
  return options;
}

Outcome run_drop(const Invocation& invocation) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  if (auto dropped = store->documents().drop(invocation.arguments.required("TYPE")); !dropped)
    return Failed(Failure(std::move(dropped).error()));
  return {};
}

// ---- get, list, remove

Options document_get_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate, such as order-1");
  options.flag("eventual", "show what is stored now; without it, wait for all events of the aggregate")
      .value("at-least", "POSITION",
             "wait until the store shows this position; with --eventual, until the documents do");
  return options;
}

Outcome run_get(const Invocation& invocation) {
  const AggregateId aggregate = invocation.arguments.aggregate("AGGREGATE");
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  struct {
    std::optional<GlobalPosition> at_least{};
    std::chrono::milliseconds timeout{0};
  } asked{position_of(invocation.arguments, "at-least")};
  const auto how = invocation.arguments.has("eventual") ? DocumentRead::eventual : DocumentRead::strict;
  const auto document = read_when_there(
      invocation, *store, asked, [&] { return store->documents().get(aggregate, how, asked.at_least, asked.timeout); });
  if (!document) return Failed(Failure(document.error()));
  JsonText json;
  write_document(json, *document);
  std::vector<std::pair<std::string, std::string>> parts{
      {"aggregate", aggregate.text()},
      {"version",
       std::to_string(document->version.value) + ", at position " + std::to_string(document->position.value)},
      {"definition", "version " + std::to_string(document->definition.value)}};
  if (document->problems != 0)
    parts.emplace_back("problems", std::to_string(document->problems) + ", the last at " + document->last_problem);
  print_one(invocation, json, parts);
  if (invocation.for_people()) invocation.out.write('\n' + indented(document->json) + '\n');
  return {};
}

Options list_options() {
  Options options = store_options();
  options.argument("TYPE", "the aggregates' type, such as order");
  options
      .value("filter", "COMPARISON",
             "only documents where it holds, such as 'total >= 10' or 'customer.city = \"Oslo\"'")
      .value("after", "VALUE", "only documents after this value of an aggregate's id")
      .number("limit", "N", "show at most this many", listed_default)
      .value("at-least", "POSITION",
             "wait until the documents show this position; without it, all events that are there now")
      .value("definition", "VERSION", "documents of this version of the definition; 0: the newest")
      .flag("eventual", "show what is stored now, without waiting");
  return options;
}

Outcome run_list(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  DocumentListing listing{
      .type = arguments.required("TYPE"), .after = arguments.text("after"), .filter = arguments.text("filter")};
  listing.at_least = position_of(arguments, "at-least");
  if (listing.at_least && arguments.has("eventual"))
    return Failed(Failure(ErrorCode::invalid_argument, "either --at-least or --eventual"));
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  if (!listing.at_least && !arguments.has("eventual")) {
    const auto head = store->head();
    if (!head) return Failed(Failure(head.error()));
    listing.at_least = *head;
    listing.definition = SeqNr{0};
  }
  if (const auto version = arguments.number("definition")) listing.definition = SeqNr{*version};
  ListPrinter list(invocation, {{"aggregate"}, {"version"}, {"document"}});
  std::optional<std::string> more;
  for (std::uint64_t left = arguments.number_at_least("limit", 1); left > 0 && !invocation.out.ended();) {
    listing.limit = std::min<std::uint64_t>(left, 1'000);
    const auto page = read_when_there(invocation, *store, listing, [&] { return store->documents().list(listing); });
    if (!page) {
      list.finish();
      return Failed(Failure(page.error()));
    }
    for (const auto& document : page->documents) {
      if (invocation.for_people()) {
        list.row({document.aggregate.text(), std::to_string(document.version.value), document.json});
        continue;
      }
      JsonText json;
      write_document(json, document);
      list.json(json.text());
    }
    left -= page->documents.size();
    more = page->next;
    if (!page->next) break;
    listing.after = page->next;
    listing.definition = page->definition;  // a list is of one
    if (left > 0 && interrupted()) return stopped_in_the_middle(list);
  }
  list.finish();
  if (more && !invocation.out.ended())
    say_there_is_more("--after " + *more + " goes on, --limit is how many are shown");
  return {};
}

Options document_remove_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate, such as order-1");
  return options;
}

Outcome run_remove(const Invocation& invocation) {
  const AggregateId aggregate = invocation.arguments.aggregate("AGGREGATE");
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  if (auto removed = store->documents().remove(aggregate); !removed) return Failed(Failure(std::move(removed).error()));
  return {};
}

}  // namespace

Command document_define_command() {
  return {"document define",
          "documents",
          "Defines how the documents of an aggregate type are built.",
          "evershard document define order order.json --data shop",
          define_options,
          run_define};
}
Command document_definitions_command() {
  return {"document definitions",
          "documents",
          "Lists the definitions of documents.",
          "evershard document definitions --data shop",
          store_options,
          run_definitions};
}
Command document_describe_command() {
  return {"document describe",
          "documents",
          "Shows how far a type's documents are, for each kept definition.",
          "evershard document describe order --data shop",
          describe_options,
          run_describe};
}
Command document_get_command() {
  return {"document get",
          "documents",
          "Shows an aggregate's document: its current state as JSON.",
          "evershard document get order-1 --data shop",
          document_get_options,
          run_get};
}
Command document_list_command() {
  return {"document list",
          "documents",
          "Lists the documents of a type, in order of value.",
          "evershard document list order --data shop --filter 'total >= 10'",
          list_options,
          run_list};
}
Command document_remove_command() {
  return {"document remove",
          "documents",
          "Hides a document until its aggregate's next event. The events stay.",
          "evershard document remove order-1 --data shop",
          document_remove_options,
          run_remove};
}
Command document_drop_command() {
  return {"document drop",
          "documents",
          "Drops the documents of a type. The events stay.",
          "evershard document drop order --data shop",
          drop_options,
          run_drop};
}

}  // namespace evershard::cli
