#include "evershard/cli/events/show_stream.hpp"

#include <iostream>

#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"

namespace evershard::cli {
namespace {

tl::expected<std::uint64_t, Failure> shown(const Invocation& invocation, EventStream stream,
                                           const PayloadTypes& types) {
  EventPrinter printer(invocation, types);
  std::uint64_t events = 0, skipped = 0;
  for (;;) {
    auto event = stream.next();
    if (!event) {
      printer.finish();
      return Failed(Failure(std::move(event).error()));
    }
    if (!*event) break;
    if (skips(invocation, **event))
      ++skipped;
    else
      printer.event(**event);
    ++events;
    if (invocation.out.ended()) break;
    if (interrupted()) {
      printer.finish();
      return Failed(Failure(ErrorCode::cancelled, "stopped after " + std::to_string(events) + " events, at position " +
                                                      std::to_string((*event)->position.value)));
    }
  }
  printer.finish();
  say_skipped(skipped);
  return events;
}

}  // namespace

void add_removed_flag(Options& options) {
  options.flag("skip-removed", "leave out removed events, and say on standard error how many; --limit counts them");
}

bool skips(const Invocation& invocation, const RecordedEvent& event) {
  return event.state == EventState::removed && invocation.arguments.has("skip-removed");
}

void say_skipped(std::uint64_t events) {
  if (events != 0)
    std::cerr << "evershard: " << events << (events == 1 ? " event that was" : " events that were")
              << " removed left out\n";
}

Outcome show_stream(const Invocation& invocation, EventStream stream, const PayloadTypes& types) {
  auto events = shown(invocation, std::move(stream), types);
  if (!events) return Failed(std::move(events).error());
  return {};
}

Outcome show_aggregate(const Invocation& invocation, EventStore& store, const AggregateId& aggregate,
                       const PayloadTypes& types) {
  const auto& arguments = invocation.arguments;
  StreamOptions options;
  if (const auto from = arguments.number("from")) options.from = SeqNr(*from);
  options.limit = arguments.number("limit");
  options.up_to = position_of(arguments, "up-to");
  options.direction = arguments.has("backwards") ? Direction::backwards : Direction::forwards;

  if (auto known = store.aggregate(aggregate); !known) return Failed(Failure(std::move(known).error()));
  return show_stream(invocation, store.read(aggregate, options), types);
}

void add_stream_flags(Options& options) {
  options.value("from", "NR", "start at this number in the aggregate")
      .value("up-to", "POSITION", "as of this position of the store")
      .value("limit", "N", "show at most this many events; without it, all")
      .flag("backwards", "show the newest first");
}

}  // namespace evershard::cli
