// `evershard aggregate list, show, history`: the directory of aggregates.

#include <algorithm>
#include <limits>

#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/events/show_stream.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/type_flags.hpp"
#include "evershard/protocol/reserved.hpp"

namespace evershard::cli {
namespace {

void write_info(JsonText& json, const AggregateInfo& info) {
  json.begin_object().key("aggregate").string(info.aggregate.text()).key("version").number(info.version.value);
  json.key("last_position").number(info.last_position.value).key("shard").number(info.shard.value).end_object();
}

/// Where what is no longer the store's own goes on behind an aggregate of its own.
AggregateId behind_own(const AggregateId& own) {
  const std::string last = "\U0010FFFF";
  for (const auto users : {stream_metadata_type, plain_stream_type}) {
    if (own.type >= users) continue;
    std::string before(users);
    --before.back();
    return {before + last, last};
  }
  return {std::string(1, reserved_mark) + last, last};
}

Options list_aggregates_options() {
  Options options = store_options();
  options.value("type", "TYPE", "only aggregates of this type")
      .flag("all", "also the store's own, such as $process-NAME")
      .value("after", "AGGREGATE", "only those after this one, in order of type and value")
      .value("limit", "N", "show at most this many; without it, all");
  return options;
}

Outcome list_aggregates(const Invocation& invocation) {
  constexpr std::uint64_t page_rows = 1'000;
  const auto type = invocation.arguments.text("type");
  const bool all = type || invocation.arguments.has("all");
  const std::uint64_t limit = invocation.arguments.number("limit").value_or(std::numeric_limits<std::uint64_t>::max());
  auto after = invocation.arguments.aggregate_if("after");
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());

  ListPrinter printer(invocation,
                      {{"AGGREGATE", false, 80}, {"VERSION", true}, {"LAST POSITION", true}, {"SHARD", true}});
  JsonText json;
  Outcome outcome;
  for (std::uint64_t rows = 0; rows < limit && !invocation.out.ended();) {
    auto page = store->aggregates(type, after, std::min(page_rows, limit - rows));
    if (!page) {
      outcome = Failed(Failure(std::move(page).error()));
      break;
    }
    if (page->empty()) break;
    for (const auto& info : *page) {
      if (!all && is_own_aggregate(info.aggregate.type)) continue;
      ++rows;
      if (invocation.for_people()) {
        printer.row({info.aggregate.text(), std::to_string(info.version.value),
                     std::to_string(info.last_position.value), std::to_string(info.shard.value)});
      } else {
        json.clear();
        write_info(json, info);
        printer.json(json.text());
      }
    }
    after = page->back().aggregate;
    // There may be millions of them, and they come before most names that people give.
    if (!all && is_own_aggregate(after->type)) after = behind_own(*after);
    if (interrupted()) {
      outcome = Failed(
          Failure(ErrorCode::cancelled, "stopped after " + std::to_string(rows) + " aggregates, at " + after->text()));
      break;
    }
  }
  printer.finish();
  return outcome;
}

Options show_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate, such as order-1");
  options.value("up-to", "POSITION", "as of this position of the store");
  return options;
}

Outcome show(const Invocation& invocation) {
  const auto aggregate = invocation.arguments.aggregate("AGGREGATE");
  const auto up_to = position_of(invocation.arguments, "up-to");
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  auto info = store->aggregate(aggregate, up_to);
  if (!info) return Failed(Failure(std::move(info).error()));

  JsonText json;
  write_info(json, *info);
  print_one(invocation, json,
            {{"aggregate", info->aggregate.text()},
             {"version", std::to_string(info->version.value)},
             {"last position", std::to_string(info->last_position.value)},
             {"shard", std::to_string(info->shard.value)}});
  return {};
}

Options history_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate, such as order-1");
  add_stream_flags(options);
  add_type_flags(options);
  return options;
}

Outcome history(const Invocation& invocation) {
  const auto aggregate = invocation.arguments.aggregate("AGGREGATE");
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto types = payload_types(invocation);
  if (!types) return Failed(types.error());
  return show_aggregate(invocation, *store, aggregate, *types);
}

}  // namespace

Command aggregate_list_command() {
  return {"aggregate list",
          "aggregates",
          "Lists aggregates with their versions, in order of type and value.",
          "evershard aggregate list --data shop --type order --limit 20",
          list_aggregates_options,
          list_aggregates};
}
Command aggregate_show_command() {
  return {"aggregate show",
          "aggregates",
          "Shows an aggregate's version, last position and shard.",
          "evershard aggregate show order-1 --data shop",
          show_options,
          show};
}
Command aggregate_history_command() {
  return {"aggregate history",
          "aggregates",
          "Shows an aggregate's events in order.",
          "evershard aggregate history order-1 --data shop --up-to 1000",
          history_options,
          history};
}

}  // namespace evershard::cli
