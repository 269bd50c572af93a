// `evershard tail`: catches up, then follows live.

#include <algorithm>

#include "evershard/cli/away_notice.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/type_flags.hpp"

namespace evershard::cli {
namespace {

Options tail_options() {
  Options options = store_options();
  add_query_flags(options);
  options.number("after", "POSITION", "start after this position", FollowOptions{}.after.value)
      .flag("from-now", "start after the last event that is there now")
      .value("limit", "N", "end after this many events")
      .flag("until-caught-up", "end when the events that were there at the start have been shown")
      .duration("away-timeout", "end with `unavailable` when the server has been away for so long; else wait for it",
                wait_rule());
  add_type_flags(options);
  return options;
}

Outcome follow(const Invocation& invocation, EventFeed feed, const PayloadTypes& types) {
  constexpr auto wait = std::chrono::milliseconds(100);  // how long Ctrl-C may take
  const auto limit = invocation.arguments.number("limit");
  const auto away_most = invocation.arguments.duration("away-timeout");
  AwayNotice notice(invocation.program.name() + ": the server");
  EventPrinter printer(invocation, types);
  std::uint64_t events = 0;
  GlobalPosition reached;
  while (!invocation.out.ended() && (!limit || events < *limit)) {
    auto item = feed.next(wait);
    if (!item) {
      printer.finish();
      return Failed(Failure(std::move(item).error()));
    }
    reached = std::max(reached, item->watermark);
    notice.see(item->away);
    if (item->away && away_most && item->away->gone_for >= *away_most) {
      printer.finish();
      const auto gone_for = text_of_duration(item->away->gone_for);
      return Failed(Failure(ErrorCode::unavailable, "the server was away for " + gone_for + ": " + item->away->why.what,
                            "go on with --after " + std::to_string(reached.value)));
    }
    for (const auto& event : item->events) {
      if (limit && events == *limit) break;
      printer.event(event);
      ++events;
    }
    if (!item->events.empty()) printer.flush();
    if (item->kind == FeedItem::Kind::caught_up && invocation.arguments.has("until-caught-up")) break;
    if (interrupted()) {
      printer.finish();
      return Failed(Failure(ErrorCode::cancelled, "stopped after " + std::to_string(events) +
                                                      " events; go on with --after " + std::to_string(reached.value)));
    }
  }
  printer.finish();
  return {};
}

Outcome run_tail(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  if (arguments.has("from-now")) arguments.refuse_beside("--from-now", {"after"});
  auto query = query_of(arguments);
  if (!query) return Failed(Failure(std::move(query).error()));
  FollowOptions options;
  options.after = position_of(arguments, "after").value_or(options.after);

  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto types = payload_types(invocation);
  if (!types) return Failed(types.error());
  if (arguments.has("from-now")) {
    auto head = store->head();
    if (!head) return Failed(Failure(std::move(head).error()));
    options.after = *head;
  }
  return follow(invocation, store->follow(query->value_or(Query::all()), options), *types);
}

}  // namespace

Command tail_command() {
  return {"tail",
          "data",
          "Shows matching events, then follows live until Ctrl-C.",
          "evershard tail --data shop --type OrderPlaced --after 1000",
          tail_options,
          run_tail};
}

}  // namespace evershard::cli
