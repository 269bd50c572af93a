// `evershard position`: where a store was at a time.

#include "evershard/cli/command.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

constexpr std::chrono::milliseconds ago_most = std::chrono::days(1'000'000);

Options position_options() {
  Options options = store_options();
  options.value("at", "TIME", "the time, such as 2026-01-31T12:00:00Z")
      .duration("ago", "how long before now; instead of --at", {.most = ago_most});
  return options;
}

Timestamp time_of(const Arguments& arguments) {
  if (arguments.has("at") == arguments.has("ago")) throw UsageError("either --at or --ago is needed");
  if (const auto ago = arguments.duration("ago"))
    return {Timestamp::now().micros - std::chrono::microseconds(*ago).count()};
  const auto text = arguments.required("at");
  const auto at = Timestamp::parse(text);
  if (!at) throw UsageError("--at is " + in_quotes(text), "a time looks like 2026-01-31T12:00:00Z");
  return *at;
}

Outcome run_position(const Invocation& invocation) {
  const auto at = time_of(invocation.arguments);
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto found = store->position_at(at);
  if (!found) return Failed(Failure(found.error()));
  JsonText json;
  json.begin_object().key("position").number(found->value).end_object();
  print_one(invocation, json, {{"position", std::to_string(found->value)}});
  return {};
}

}  // namespace

Command position_command() {
  return {
      "position",
      "data",
      "Shows the last position at or before a time.",
      "evershard position --data shop --at 2026-01-31T12:00:00Z",
      position_options,
      run_position,
      nullptr,
      "It is the end of an append, for --up-to and --after of other commands. 0: nothing is that old. An event's time "
      "is its occurred_at."};
}

}  // namespace evershard::cli
