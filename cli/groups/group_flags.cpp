#include "evershard/cli/groups/group_flags.hpp"

#include <limits>

#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/store_info.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/store/json/group_json.hpp"
#include "evershard/store/json/query_json.hpp"

namespace evershard::cli {
namespace {

std::optional<std::uint32_t> group_number(const Arguments& arguments, const char* name) {
  const auto number = arguments.has(name) ? arguments.number(name) : std::nullopt;
  if (!number) return std::nullopt;
  if (*number > std::numeric_limits<std::uint32_t>::max())
    throw UsageError("--" + std::string(name) + " is " + std::to_string(*number) + ": that is too great");
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

std::optional<std::chrono::milliseconds> time_flag(const Arguments& arguments, const char* name) {
  const auto number = group_number(arguments, name);
  if (!number) return std::nullopt;
  return std::chrono::milliseconds(*number);
}

void add_start_flags(Options& options) {
  options.number("after", "POSITION", "begin behind it; 0: with the first event", 0)
      .flag("from-now", "begin behind everything that is there");
}

std::optional<GlobalPosition> start_asked(const Arguments& arguments) {
  if (arguments.has("from-now")) {
    arguments.refuse_beside("--from-now", {"after"});
    return std::nullopt;
  }
  return position_of(arguments, "after").value_or(GlobalPosition{0});
}

void add_setting_flags(Options& options, bool created) {
  const GroupSettings settings;
  const auto number = [&](const char* name, const char* unit, const char* sentence, std::uint64_t otherwise) {
    if (created)
      options.number(name, unit, sentence, otherwise);
    else
      options.value(name, unit, sentence);
  };
  const auto ms = [](std::chrono::milliseconds time) { return static_cast<std::uint64_t>(time.count()); };
  if (created)
    options.value("order", "ORDER",
                  "aggregate: each aggregate's events in order; global: all in order, one worker at a time",
                  std::string(name_of(settings.order)));
  options.value("after-parked", "WHAT",
                "go_on: an aggregate's later events are given out; block: they are parked behind it",
                created ? std::string(name_of(settings.after_parked)) : std::string());
  number("attempts", "N", "then an event is parked", settings.attempts_max);
  number("retry-first-ms", "MS", "how long the second attempt waits", ms(settings.retry_first));
  number("retry-factor", "N", "each further one waits so many times as long", settings.retry_factor);
  number("retry-most-ms", "MS", "and never longer", ms(settings.retry_most));
  number("retry-jitter", "PERCENT", "of each wait, more or less", settings.retry_jitter_percent);
  number("lease-ms", "MS", "how long an event may stay with a worker that says nothing", ms(settings.lease));
  number("window", "N", "events that are read and not settled; then nothing is read on", settings.window);
  number("parked-max", "N", "then nothing more is parked", settings.parked_max);
}

GroupSettingsChange setting_flags(const Arguments& arguments) {
  GroupSettingsChange change;
  if (arguments.has("order")) {
    change.order = group_order_of(arguments.required("order"));
    if (!change.order)
      throw UsageError("--order is " + in_quotes(arguments.required("order")) + ": aggregate or global");
  }
  if (arguments.has("after-parked")) {
    change.after_parked = after_parked_of(arguments.required("after-parked"));
    if (!change.after_parked)
      throw UsageError("--after-parked is " + in_quotes(arguments.required("after-parked")) + ": go_on or block");
  }
  change.attempts_max = group_number(arguments, "attempts");
  change.retry_first = time_flag(arguments, "retry-first-ms");
  change.retry_factor = group_number(arguments, "retry-factor");
  change.retry_most = time_flag(arguments, "retry-most-ms");
  change.retry_jitter_percent = group_number(arguments, "retry-jitter");
  change.lease = time_flag(arguments, "lease-ms");
  change.window = group_number(arguments, "window");
  change.parked_max = group_number(arguments, "parked-max");
  return change;
}

void print_group(const Invocation& invocation, const GroupInfo& group) {
  JsonText json;
  write_group(json, group);
  JsonText query;
  write_query(query, group.definition.query);
  const auto& settings = group.definition.settings;
  const auto ms = [](std::chrono::milliseconds time) {
    return grouped(static_cast<std::uint64_t>(time.count())) + " ms";
  };
  Parts parts{{"group", group.definition.name},
              {"query", query.text()},
              {"began behind", grouped(group.definition.after.value_or(GlobalPosition{0}).value)},
              {"order",
               std::string(name_of(settings.order)) + ", after parked: " + std::string(name_of(settings.after_parked))},
              {"position",
               grouped(group.position.value) + " of " + grouped(group.head.value) + ", lag " + grouped(group.lag())},
              {"unsettled", grouped(group.unsettled) + ", in flight " + grouped(group.in_flight) +
                                ", waiting for a retry " + grouped(group.waiting)},
              {"parked", grouped(group.parked) + (group.parked_full ? ": no more can be" : "")},
              {"so far", grouped(group.acknowledged) + " acknowledged, " + grouped(group.rejected) + " rejected, " +
                             grouped(group.expired) + " expired, " + grouped(group.parked_ever) + " parked, " +
                             grouped(group.replayed) + " replayed, " + grouped(group.discarded) + " discarded"},
              {"attempts", std::to_string(settings.attempts_max) + ", the first retry after " +
                               ms(settings.retry_first) + ", then " + std::to_string(settings.retry_factor) +
                               " times as long, at most " + ms(settings.retry_most) + ", each more or less " +
                               std::to_string(settings.retry_jitter_percent) + "%"},
              {"lease", ms(settings.lease)},
              {"window", grouped(settings.window)},
              {"parked at most", grouped(settings.parked_max)}};
  for (const auto& worker : group.workers) {
    parts.emplace_back("worker " + worker.name, "lag " + grouped(worker.share) + ", in flight " +
                                                    grouped(worker.in_flight) + " of " + grouped(worker.credit) +
                                                    ", acknowledged " + grouped(worker.acknowledged));
  }
  if (!group.trouble.empty()) parts.emplace_back("trouble", group.trouble);
  print_one(invocation, json, parts);
}

}  // namespace evershard::cli
