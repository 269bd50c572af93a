#include "evershard/cli/events/query_flags.hpp"

#include "evershard/api/json/query_json.hpp"
#include "evershard/cli/failure.hpp"

namespace evershard::cli {

void add_query_flags(Options& options) {
  options.values("type", "TYPE", "events of this type; given several times: of any of them")
      .values("tag", "TAG", "events with this tag; given several times: with all of them")
      .values("concerning", "AGGREGATE",
              "events of this aggregate or that name it in `also`; given several times: all of them")
      .flag("or", "start another set of conditions; an event matches if any set does")
      .value("query", "JSON",
             R"(the query as JSON: {"items":[{"types":[..],"tags":[..],"concerning":[..]}]} or {"all":true})");
}

Result<std::optional<Query>> query_of(const Arguments& arguments) {
  if (arguments.has("query")) {
    arguments.refuse_beside("--query", {"type", "tag", "concerning", "or"});
    auto query = read_query(*arguments.text("query"), "--query");
    if (!query) return refuse(std::move(query).error());
    return std::move(*query);
  }

  Query query;
  bool any = false;
  for (const auto& [name, text] : arguments.in_order()) {
    if (name == "type")
      query.types({text});
    else if (name == "tag")
      query.tags({text});
    else if (name == "or")
      query.or_();
    else if (name == "concerning") {
      auto aggregate = AggregateId::parse(text);
      if (!aggregate) return refuse(aggregate.error().code, "--concerning: " + aggregate.error().what);
      query.concerning({std::move(*aggregate)});
    } else
      continue;
    any = true;
  }
  if (!any) return std::nullopt;
  for (const auto& item : query.items()) {
    if (item == QueryItem{})
      throw UsageError("--or has nothing on one side", "each item needs a --type, --tag or --concerning");
  }
  EVERSHARD_TRY(query.check());
  return query;
}

void add_range_flags(Options& options) {
  options.number("after", "POSITION", "only events after this position", ReadOptions{}.after.value)
      .value("before", "POSITION", "only events before this position")
      .value("up-to", "POSITION", "only events up to this position, inclusive")
      .value("limit", "N", "show at most this many events; without it, all")
      .value("per-aggregate", "N", "show at most this many events of each aggregate; without it, all")
      .flag("backwards", "show the newest first");
}

std::optional<GlobalPosition> position_of(const Arguments& arguments, std::string_view name) {
  const auto number = arguments.number(name);
  if (!number) return std::nullopt;
  return GlobalPosition(*number);
}

ReadOptions range_of(const Arguments& arguments) {
  ReadOptions options;
  options.after = position_of(arguments, "after").value_or(options.after);
  options.before = position_of(arguments, "before");
  options.up_to = position_of(arguments, "up-to");
  options.limit = arguments.number("limit");
  options.per_aggregate = arguments.number("per-aggregate");
  options.direction = arguments.has("backwards") ? Direction::backwards : Direction::forwards;
  return options;
}

}  // namespace evershard::cli
