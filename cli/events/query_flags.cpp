#include "evershard/cli/events/query_flags.hpp"

#include "evershard/cli/failure.hpp"
#include "evershard/store/json/query_json.hpp"

namespace evershard::cli {

void add_query_flags(Options& options) {
  options.values("type", "TYPE", "event type; several: any of them")
      .values("tag", "TAG", "tag; several: all of them")
      .values("concerning", "AGGREGATE", "the event's own aggregate, or one it names in `also`; several: all of them")
      .flag("or", "what follows is another item: events that match any item are found")
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
  options.number("after", "POSITION", "only what stands behind it", ReadOptions{}.after.value)
      .value("before", "POSITION", "only what stands in front of it")
      .value("up-to", "POSITION", "as of this position: it and what stands in front of it")
      .value("limit", "N", "at most so many events; without it, all")
      .value("per-aggregate", "N", "at most so many events of each aggregate, those met first; without it, all")
      .flag("backwards", "the newest first");
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
