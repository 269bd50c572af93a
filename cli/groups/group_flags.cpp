#include "evershard/cli/groups/group_flags.hpp"

#include <limits>

#include "evershard/api/json/group_json.hpp"
#include "evershard/api/json/query_json.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/store_info.hpp"

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

void add_start_flags(Options& options) {
  options.number("after", "POSITION", "start after this position; 0: with the first event", 0)
      .flag("from-now", "start after the last event that is there now");
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
  const auto time = [&](const char* name, const char* sentence, std::chrono::milliseconds otherwise) {
    options.duration(name, sentence, group_time_rule, created ? std::optional(otherwise) : std::nullopt);
  };
  if (created)
    options
        .value("order", "ORDER",
               "aggregate: each aggregate's events in order; global: all events in order, by one worker at a time",
               std::string(name_of(settings.order)))
        .one_of({std::string(name_of(GroupOrder::aggregate)), std::string(name_of(GroupOrder::global))});
  options
      .value("after-parked", "WHAT",
             "go_on: later events of the same aggregate are delivered; block: they are parked too",
             created ? std::string(name_of(settings.after_parked)) : std::string())
      .one_of({std::string(name_of(AfterParked::go_on)), std::string(name_of(AfterParked::block))});
  number("attempts", "N", "after this many attempts an event is parked", settings.attempts_max);
  time("retry-first-ms", "how long the second attempt waits", settings.retry_first);
  number("retry-factor", "N", "how much longer each further wait is", settings.retry_factor);
  time("retry-most-ms", "the longest wait before an attempt", settings.retry_most);
  number("retry-jitter", "PERCENT", "how much each wait varies, in percent", settings.retry_jitter_percent);
  time("lease-ms", "how long an event may stay with a worker that says nothing", settings.lease);
  number("window", "N", "how many events may be read and not yet settled", settings.window);
  number("parked-max", "N", "how many events may be parked", settings.parked_max);
}

GroupSettingsChange setting_flags(const Arguments& arguments) {
  GroupSettingsChange change;
  const auto time = [&](const char* name) { return arguments.has(name) ? arguments.duration(name) : std::nullopt; };
  if (arguments.has("order")) change.order = group_order_of(arguments.required("order"));
  if (arguments.has("after-parked")) change.after_parked = after_parked_of(arguments.required("after-parked"));
  change.attempts_max = group_number(arguments, "attempts");
  change.retry_first = time("retry-first-ms");
  change.retry_factor = group_number(arguments, "retry-factor");
  change.retry_most = time("retry-most-ms");
  change.retry_jitter_percent = group_number(arguments, "retry-jitter");
  change.lease = time("lease-ms");
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
  Parts parts{
      {"group", group.definition.name},
      {"query", query.text()},
      {"began after", grouped(group.definition.after.value_or(GlobalPosition{0}).value)},
      {"order",
       std::string(name_of(settings.order)) + ", after parked: " + std::string(name_of(settings.after_parked))},
      {"position",
       grouped(group.position.value) + " of " + grouped(group.head.value) + ", lag " + grouped(group.lag())},
      {"unsettled", grouped(group.unsettled) + ", in flight " + grouped(group.in_flight) + ", waiting for a retry " +
                        grouped(group.waiting)},
      {"parked", grouped(group.parked) + (group.parked_full ? ": no more can be" : "")},
      {"so far", grouped(group.acknowledged) + " acknowledged, " + grouped(group.rejected) + " rejected, " +
                     grouped(group.expired) + " expired, " + grouped(group.parked_ever) + " parked, " +
                     grouped(group.replayed) + " replayed, " + grouped(group.discarded) + " discarded"},
      {"attempts", std::to_string(settings.attempts_max) + ", the first retry after " +
                       text_of_duration(settings.retry_first) + ", then " + std::to_string(settings.retry_factor) +
                       " times as long, at most " + text_of_duration(settings.retry_most) + ", each more or less " +
                       std::to_string(settings.retry_jitter_percent) + "%"},
      {"lease", text_of_duration(settings.lease)},
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
