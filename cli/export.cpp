// `evershard export`: events as lines that `evershard import` reads.

#include <unistd.h>

#include <optional>

#include "evershard/cli/commands.hpp"
#include "evershard/cli/export_lines.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cluster/exchange/part_file.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/progress.hpp"
#include "evershard/cli/query_flags.hpp"
#include "evershard/cli/show_stream.hpp"
#include "evershard/protocol/reserved.hpp"

namespace evershard::cli {
namespace {

Options export_options() {
  Options options = store_options();
  options.argument("FILE", "where to, as a whole or not at all; without it, or with -, standard output", false);
  add_query_flags(options);
  add_removed_flag(options);
  options.number("after", "POSITION", "only what stands behind it", ReadOptions{}.after.value)
      .value("up-to", "POSITION", "as of this position; an append that reaches beyond it is cut");
  return options;
}

struct Exported {
  std::uint64_t events = 0;
  std::uint64_t lines = 0;
  GlobalPosition reached;
};

Failure stopped(const Exported& so_far, bool kept) {
  Failure failure(ErrorCode::cancelled, "stopped after " + std::to_string(so_far.events) + " events, at position " +
                                            std::to_string(so_far.reached.value) + (kept ? "" : "; no file was written"));
  failure.figures = {{"events", so_far.events}, {"position", so_far.reached.value}};
  return failure;
}

tl::expected<Exported, Failure> write_all(const Invocation& invocation, EventStream stream, Output& out, bool to_file) {
  ProgressLine progress(invocation.terminal, "export");
  Exported so_far;
  std::uint64_t skipped = 0;
  ExportLines lines([&](std::string_view line) {
    out.write(line);
    out.write("\n");
    ++so_far.lines;
  });
  for (;;) {
    auto event = stream.next();
    if (!event) return Failed(Failure(std::move(event).error()));
    if (!*event || out.ended()) break;
    so_far.reached = (*event)->position;
    // Definitions, and what says that an aggregate was removed, are this store's own: no other takes them.
    if (is_reserved((*event)->type) || ((*event)->aggregate && is_reserved((*event)->aggregate->type))) continue;
    if (skips(invocation, **event)) {
      ++skipped;
    } else {
      ++so_far.events;
      lines.event(std::move(**event));
    }
    progress.show(so_far.reached.value, stream.watermark().value);
    if (interrupted()) {
      if (!to_file) lines.finish();
      out.flush();
      return Failed(stopped(so_far, !to_file));
    }
  }
  lines.finish();
  out.flush();
  say_skipped(skipped);
  if (auto written = out.status(); !written) return Failed(Failure(std::move(written).error()));
  return so_far;
}

Outcome export_to_file(const Invocation& invocation, EventStream stream, const std::string& path) {
  auto file = PartFile::create(path);
  if (!file) return Failed(Failure(std::move(file).error()));
  Output out(file->descriptor());
  auto exported = write_all(invocation, std::move(stream), out, true);
  if (!exported) return Failed(std::move(exported).error());
  if (auto kept = file->keep(); !kept) return Failed(Failure(std::move(kept).error()));

  JsonText json;
  json.begin_object().key("events").number(exported->events).key("lines").number(exported->lines);
  json.key("position").number(exported->reached.value).key("file").string(path).end_object();
  print_one(invocation, json,
            {{"file", path}, {"events", grouped(exported->events)}, {"lines", grouped(exported->lines)}, {"last position", grouped(exported->reached.value)}});
  return {};
}

Outcome run_export(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  auto query = query_of(arguments);
  if (!query) return Failed(Failure(std::move(query).error()));
  ReadOptions range;
  range.after = position_of(arguments, "after").value_or(range.after);
  range.up_to = position_of(arguments, "up-to");

  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  EventStream stream = store->read(query->value_or(Query::all()), range);
  const std::string path = arguments.text("FILE").value_or("-");
  if (path != "-") return export_to_file(invocation, std::move(stream), path);
  auto exported = write_all(invocation, std::move(stream), invocation.out, false);
  if (!exported) return Failed(std::move(exported).error());
  return {};
}

}  // namespace

Command export_command() {
  return {"export", "data", "Writes events as JSON Lines that `import` reads, byte for byte.",
          "evershard export shop.jsonl --data shop --tag customer:42 --up-to 100000", export_options, run_export};
}

}  // namespace evershard::cli
