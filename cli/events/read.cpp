// `evershard read`: an aggregate, or everything.

#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/events/show_stream.hpp"
#include "evershard/cli/store/type_flags.hpp"

namespace evershard::cli {
namespace {

Options read_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate to read, such as order-1; without it, all events in global order",
                   false);
  options.value("from", "NR", "with AGGREGATE: start at this number");
  add_range_flags(options);
  add_removed_flag(options);
  add_type_flags(options);
  return options;
}

Outcome run_read(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto aggregate = arguments.aggregate_if("AGGREGATE");
  if (aggregate)
    arguments.refuse_beside("an aggregate", {"after", "before", "per-aggregate"});
  else if (arguments.has("from"))
    throw UsageError("--from needs an AGGREGATE", "without one, --after starts at a position");

  const ReadOptions range = range_of(arguments);
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto types = payload_types(invocation);
  if (!types) return Failed(types.error());
  if (aggregate) return show_aggregate(invocation, *store, *aggregate, *types);
  return show_stream(invocation, store->read(Query::all(), range), *types);
}

}  // namespace

Command read_command() {
  return {"read",
          "data",
          "Shows an aggregate's events, or all events in global order.",
          "evershard read order-1 --data shop --backwards --limit 10",
          read_options,
          run_read};
}

}  // namespace evershard::cli
