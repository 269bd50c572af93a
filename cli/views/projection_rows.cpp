#include "evershard/cli/views/projection_rows.hpp"

#include <thread>

#include "evershard/api/json/input.hpp"
#include "evershard/api/json/projection_json.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::cli {
namespace {

constexpr auto looks_every = std::chrono::milliseconds(20);
constexpr std::size_t definition_bytes_max = 8u << 20;

std::string figures_text(const ProjectionVersion& version) {
  std::string text;
  for (const auto& [name, value] : version.figures)
    text += (text.empty() ? "" : ", ") + std::to_string(value) + ' ' + name;
  return text;
}

std::string trouble_text(const ProjectionVersion& version) {
  if (!version.error) return {};
  const auto at = version.failed_at ? "at position " + std::to_string(version.failed_at->value) + ": " : std::string();
  return (version.error->what.find(at) == std::string::npos ? at : std::string()) + version.error->what;
}

/// Of a table in parts the one that is furthest behind, or stands.
ProjectionVersion newest_of(const ProjectionInfo& info) {
  const auto stands = [](const ProjectionVersion& one) {
    return one.state == "failed" || one.state == "paused" || one.state == "waiting";
  };
  const auto* newest = &info.versions.back();
  for (const auto& one : info.versions) {
    if (one.rows == newest->rows &&
        (stands(one) > stands(*newest) ||
         (stands(one) == stands(*newest) && (one.serving < newest->serving || one.position < newest->position))))
      newest = &one;
  }
  return *newest;
}

/// Errors: timeout; unavailable: it stands, and why; of describe; cancelled
Result<ProjectionInfo> newest_when_read(Projections& projections, ProjectionInfo info, GlobalPosition head,
                                        const Invocation& invocation) {
  const std::string name = info.name;
  const auto until = std::chrono::steady_clock::now() + rows_timeout(invocation);
  const std::string goes_on = invocation.server() ? "it goes on being built in the background"
                                                  : "it is built while a command has the store open";
  for (;;) {
    if (info.versions.empty())
      return refuse(ErrorCode::unavailable, "projection " + in_quotes(name) + " has no rows yet");
    const auto newest = newest_of(info);
    if (newest.serving && newest.position >= head) return info;
    const auto where = "projection " + in_quotes(name) + " is " + newest.state + " at position " +
                       std::to_string(newest.position.value);
    if (newest.state == "failed" || newest.state == "paused" || newest.state == "waiting")
      return refuse(ErrorCode::unavailable, where + (newest.error ? ": " + newest.error->what : std::string()));
    if (interrupted()) return refuse(ErrorCode::cancelled, where + ": " + goes_on);
    if (std::chrono::steady_clock::now() >= until)
      return refuse(ErrorCode::timeout,
                    where + ", and has not reached " + std::to_string(head.value) + " in time; " + goes_on);
    std::this_thread::sleep_for(looks_every);
    auto now = projections.describe(name);
    if (!now) return now;
    info = *std::move(now);
  }
}

}  // namespace

Result<std::string> read_definition(const std::string& path) {
  auto input = Input::open(path);
  if (!input) return refuse(std::move(input).error());
  auto text = input->read_all(definition_bytes_max);
  if (text && !is_utf8(*text)) return refuse(ErrorCode::invalid_argument, "the definition is not UTF-8");
  return text;
}

void add_rows_flags(Options& options) {
  options
      .value("at-least", "POSITION",
             "wait until the index shows this position; without it, a value index shows all events that are there now")
      .value("version", "N", "read this version; without it, the one in use");
}

std::chrono::milliseconds rows_timeout(const Invocation& invocation) {
  if (!invocation.server()) return std::chrono::hours(24);
  return server_timeout(invocation.arguments);
}

std::chrono::milliseconds rows_timeout(const Invocation& invocation, OpenedStore& store,
                                       std::optional<GlobalPosition> at_least) {
  // A server is not asked for its head: a client waits for what it was told, and who names no position waits for
  // nothing.
  if (invocation.server() || !at_least) return rows_timeout(invocation);
  const auto head = store.head();
  return head && *at_least > *head ? std::chrono::milliseconds(0) : rows_timeout(invocation);
}

Failed stopped_in_the_middle(ListPrinter& list) {
  list.finish();
  return Failed(Failure(ErrorCode::cancelled, "stopped in the middle of the list"));
}

RowsAsked rows_asked(const Arguments& arguments) {
  RowsAsked rows;
  rows.at_least = position_of(arguments, "at-least");
  if (const auto version = arguments.number("version")) rows.version = SeqNr{*version};
  return rows;
}

bool is_building(const ProjectionInfo& info) {
  return std::ranges::any_of(info.versions,
                             [](const auto& version) { return version.state == "building" && version.lag != 0; });
}

void print_projection(const Invocation& invocation, const ProjectionInfo& info) {
  JsonText json;
  write_projection(json, info);
  std::vector<std::pair<std::string, std::string>> parts{
      {"name", info.name}, {"kind", info.kind}, {"definition", info.spec}, {"paused", info.paused ? "yes" : "no"}};
  for (const auto& version : info.versions) {
    auto text = version.state + " at position " + std::to_string(version.position.value) + ", " +
                std::to_string(version.lag) + " behind" + (version.serving ? ", is read" : "");
    if (const auto figures = figures_text(version); !figures.empty()) text += "; " + figures;
    const auto part = version.part
                          ? ", part " + std::to_string(*version.part) +
                                (version.home != 0 ? " at node " + std::to_string(version.home) : std::string())
                          : std::string();
    parts.emplace_back("version " + std::to_string(version.version.value) + part, text);
    if (version.error) parts.emplace_back("error", trouble_text(version));
  }
  print_one(invocation, json, parts);
}

Outcome print_made(const Invocation& invocation, OpenedStore& store, Result<ProjectionInfo> made, GlobalPosition head) {
  if (!made) return Failed(Failure(std::move(made).error()));
  if (invocation.arguments.has("wait")) {
    made = newest_when_read(store.projections(), *std::move(made), head, invocation);
    if (!made) return Failed(Failure(std::move(made).error()));
  }
  print_projection(invocation, *made);
  return {};
}

Outcome list_projections(const Invocation& invocation, const std::function<bool(const ProjectionInfo&)>& which) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto all = once_looked_at(
      invocation, [&] { return store->projections().list(); },
      [](const auto& infos) { return std::ranges::any_of(infos, is_building); });
  if (!all) return Failed(Failure(all.error()));
  ListPrinter printer(invocation, {{"NAME", false, 64},
                                   {"KIND", false},
                                   {"STATE", false},
                                   {"POSITION", true},
                                   {"BEHIND", true},
                                   {"HOLDS", false, 60},
                                   {"ERROR", false, 80}});
  JsonText json;
  for (const auto& info : *all) {
    if (!which(info)) continue;
    if (invocation.for_people()) {
      const auto version = shown_version(info);
      if (!version) {
        printer.row({info.name, info.kind, "", "", "", "", ""});
        continue;
      }
      printer.row({info.name, info.kind, version->state, std::to_string(version->position.value),
                   std::to_string(version->lag), figures_text(*version), trouble_text(*version)});
    } else {
      json.clear();
      write_projection(json, info);
      printer.json(json.text());
    }
  }
  printer.finish();
  return {};
}

Outcome ask_projection(const Invocation& invocation, Projections::Ask what,
                       const std::function<bool(const ProjectionInfo&)>& which) {
  const auto name = invocation.arguments.required("NAME");
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  auto& projections = store->projections();
  const auto info = projections.describe(name);
  if (!info) return Failed(Failure(info.error()));
  if (!which(*info)) return Failed(Failure(ErrorCode::invalid_argument, in_quotes(name) + " is of kind " + info->kind));
  if (auto done = projections.ask(name, what); !done) return Failed(Failure(std::move(done).error()));
  if (what == Projections::Ask::drop) {
    JsonText json;
    json.begin_object().key("dropped").string(name).end_object();
    print_one(invocation, json, {{"dropped", name}});
    return {};
  }
  const auto now = projections.describe(name);
  if (!now) return Failed(Failure(now.error()));
  print_projection(invocation, *now);
  return {};
}

}  // namespace evershard::cli
