// `evershard export`: events as lines that `evershard import` reads.

#include <unistd.h>

#include <optional>
#include <set>

#include "evershard/api/json/output_file.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/export_lines.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/events/show_stream.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/progress.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/retention_events.hpp"

namespace evershard::cli {
namespace {

Options export_options() {
  Options options = store_options();
  options.argument("FILE", "the file to write, there when complete; a FIFO or device as it is; else standard output",
                   false);
  add_query_flags(options);
  add_removed_flag(options);
  options.number("after", "POSITION", "only events after this position", ReadOptions{}.after.value)
      .value("up-to", "POSITION", "up to this position; an append that reaches beyond it is cut");
  return options;
}

struct Exported {
  std::uint64_t events = 0;
  std::uint64_t places = 0;  ///< of the store's own events
  std::uint64_t snapshots = 0;
  std::uint64_t lines = 0;
  GlobalPosition reached;
};

Failure stopped(const Exported& so_far, bool kept) {
  Failure failure(ErrorCode::cancelled, "stopped after " + std::to_string(so_far.events) + " events, at position " +
                                            std::to_string(so_far.reached.value) +
                                            (kept ? "" : "; no file was written"));
  failure.figures = {{"events", so_far.events}, {"position", so_far.reached.value}};
  return failure;
}

/// How much of the store is asked for: what is there only to make another store like this one follows from it.
struct Extent {
  bool places = false;     ///< every position of a range
  bool snapshots = false;  ///< and from the first event on: versions are the same there
};

/// An event of the store's own, which no other takes, holds its place there, so that those behind it have theirs.
RecordedEvent place_of(const RecordedEvent& event) {
  RecordedEvent place;
  place.position = event.position;
  place.shard = event.shard;
  place.offset = event.offset;
  place.id = event.id;
  place.state = EventState::removed;
  place.append_index = event.append_index;
  place.append_events = event.append_events;
  return place;
}

tl::expected<Exported, Failure> write_all(const Invocation& invocation, EventStore& store, EventStream stream,
                                          Extent extent, Output& out, bool to_file) {
  ProgressLine progress(invocation.terminal, "export");
  Exported so_far;
  std::uint64_t skipped = 0;
  std::set<AggregateId> incomplete;  // their state cannot be made from what is exported of their events
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
    const bool leave_out = invocation.arguments.has("skip-removed");
    if (!is_history(**event)) {
      if (!extent.places) continue;
      ++so_far.places;
      lines.event(place_of(**event));
    } else if (leave_out && (*event)->type == retention::aggregate_removed) {
      continue;
    } else if (skips(invocation, **event)) {
      ++skipped;
    } else {
      ++so_far.events;
      if (extent.snapshots && (*event)->aggregate && (*event)->state != EventState::live)
        incomplete.insert(*(*event)->aggregate);
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
  for (const auto& aggregate : incomplete) {
    const auto snapshot = store.snapshot_as_of(aggregate, so_far.reached);
    if (!snapshot) return Failed(Failure(snapshot.error()));
    if (!*snapshot) continue;
    ++so_far.snapshots;
    lines.snapshot(**snapshot);
    if (out.ended() || interrupted()) break;
  }
  out.flush();
  if (interrupted()) return Failed(stopped(so_far, !to_file));
  say_skipped(skipped);
  if (auto written = out.status(); !written) return Failed(Failure(std::move(written).error()));
  return so_far;
}

Outcome export_to_output(const Invocation& invocation, EventStore& store, EventStream stream, Extent extent) {
  auto exported = write_all(invocation, store, std::move(stream), extent, invocation.out, false);
  if (!exported) return Failed(std::move(exported).error());
  return {};
}

Outcome export_to_file(const Invocation& invocation, EventStore& store, EventStream stream, Extent extent,
                       const std::string& path) {
  auto file = OutputFile::open(path);
  if (!file) return Failed(Failure(std::move(file).error()));
  if (file->is_standard_output()) return export_to_output(invocation, store, std::move(stream), extent);
  Output out(file->descriptor());
  auto exported = write_all(invocation, store, std::move(stream), extent, out, true);
  if (!exported) return Failed(std::move(exported).error());
  if (auto whole = out.whole(); !whole) return Failed(Failure(std::move(whole).error()));
  if (auto kept = file->keep(); !kept) return Failed(Failure(std::move(kept).error()));

  JsonText json;
  json.begin_object().key("events").number(exported->events).key("lines").number(exported->lines);
  json.key("places").number(exported->places).key("snapshots").number(exported->snapshots);
  json.key("position").number(exported->reached.value).key("file").string(path).end_object();
  print_one(invocation, json,
            {{"file", path},
             {"events", grouped(exported->events)},
             {"lines", grouped(exported->lines)},
             {"last position", grouped(exported->reached.value)}});
  return {};
}

Outcome run_export(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  auto query = query_of(arguments);
  if (!query) return Failed(Failure(std::move(query).error()));
  ReadOptions range;
  range.after = position_of(arguments, "after").value_or(range.after);
  range.up_to = position_of(arguments, "up-to");

  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const bool all = !*query && !arguments.has("skip-removed");
  const Extent extent{.places = all, .snapshots = all && range.after.value == 0};
  EventStream stream = store->read(query->value_or(Query::all()), range);
  const std::string path = arguments.text("FILE").value_or("-");
  if (path != "-") return export_to_file(invocation, *store, std::move(stream), extent, path);
  return export_to_output(invocation, *store, std::move(stream), extent);
}

}  // namespace

Command export_command() {
  return {"export",
          "data",
          "Writes events as JSON Lines, which `import` reads byte for byte.",
          "evershard export shop.jsonl --data shop --tag customer:42 --up-to 100000",
          export_options,
          run_export};
}

}  // namespace evershard::cli
