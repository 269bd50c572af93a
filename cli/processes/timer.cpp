// `evershard timer list, cancel`.

#include <utility>

#include "evershard/api/json/process_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/pages.hpp"
#include "evershard/protocol/quantity.hpp"

namespace evershard::cli {
namespace {

constexpr std::uint64_t timers_listed_default = 100;
constexpr std::uint64_t timers_page_max = 1'000;

Options timer_list_options() {
  Options options = store_options();
  options.value("type", "TYPE", "only timers of aggregates of this type")
      .value("aggregate", "AGGREGATE", "only timers of this aggregate")
      .value("after", "NEXT", "go on behind the last page")
      .number("limit", "N", "show at most this many", timers_listed_default);
  return options;
}

std::string repeats_text(const TimerSet& timer) {
  if (timer.calendar) return timer.calendar->times + (timer.calendar->zone.empty() ? "" : " " + timer.calendar->zone);
  if (timer.every.count() == 0) return "";
  return "every " + text_of_duration(std::chrono::duration_cast<std::chrono::milliseconds>(timer.every));
}

Outcome run_timer_list(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  TimerListing listing{.type = arguments.text("type"),
                       .aggregate = arguments.aggregate_if("aggregate"),
                       .after = arguments.text("after").value_or("")};
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  ListPrinter list(invocation, {{"aggregate"}, {"timer"}, {"due"}, {"command"}, {"repeats"}});
  return print_pages(
      invocation, list, std::move(listing), timers_page_max,
      [&](const auto& of) { return store->processes().timers(of); },
      [](const auto& page) { return page.timers.size(); },
      [&](const auto& page) {
        for (const auto& pending : page.timers) {
          if (invocation.for_people()) {
            list.row({pending.aggregate.text(), pending.timer.name, pending.due.text(), pending.timer.command,
                      repeats_text(pending.timer)});
            continue;
          }
          JsonText json;
          write_pending_timer(json, pending);
          list.json(json.text());
        }
      });
}

Options timer_cancel_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate, such as order-1").argument("NAME", "the timer's name");
  return options;
}

Outcome run_timer_cancel(const Invocation& invocation) {
  const auto aggregate = invocation.arguments.aggregate("AGGREGATE");
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  if (auto done = store->processes().cancel_timer(aggregate, invocation.arguments.required("NAME")); !done)
    return Failed(Failure(std::move(done).error()));
  return {};
}

}  // namespace

Command timer_list_command() {
  return {"timer list",
          "processes",
          "Lists the timers of aggregates that wait, in order of when they are due.",
          "evershard timer list --type order --data shop",
          timer_list_options,
          run_timer_list};
}
Command timer_cancel_command() {
  return {"timer cancel",
          "processes",
          "Cancels a timer of an aggregate.",
          "evershard timer cancel order-1 overdue --data shop",
          timer_cancel_options,
          run_timer_cancel};
}

}  // namespace evershard::cli
