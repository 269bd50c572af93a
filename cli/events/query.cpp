// `evershard query`: events by type, tag and aggregate concerned, over all shards.

#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/events/show_stream.hpp"
#include "evershard/cli/store/type_flags.hpp"

namespace evershard::cli {
namespace {

Options query_options() {
  Options options = store_options();
  add_query_flags(options);
  add_range_flags(options);
  add_removed_flag(options);
  add_type_flags(options);
  return options;
}

Outcome run_query(const Invocation& invocation) {
  auto query = query_of(invocation.arguments);
  if (!query) return Failed(Failure(std::move(query).error()));
  if (!*query)
    throw UsageError("which events? Give --type, --tag, --concerning or --query", "`evershard read` shows all");
  const ReadOptions range = range_of(invocation.arguments);

  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto types = payload_types(invocation);
  if (!types) return Failed(types.error());
  return show_stream(invocation, store->read(std::move(**query), range), *types);
}

}  // namespace

Command query_command() {
  return {"query",
          "data",
          "Shows the events that match, over all shards, in global order.",
          "evershard query --data shop --type OrderPlaced --tag customer:42 --or --tag vip:yes",
          query_options,
          run_query};
}

}  // namespace evershard::cli
