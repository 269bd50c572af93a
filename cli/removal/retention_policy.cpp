// `evershard retention policy`, `drop`, `policies`: time to live by rules that the store itself keeps.

#include <limits>

#include "evershard/cli/commands.hpp"
#include "evershard/cli/removal/retention_flags.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/store/json/retention_json.hpp"

namespace evershard::cli {
namespace {

constexpr std::pair<char, std::uint64_t> keep_units[] = {{'s', 1}, {'m', 60}, {'h', 3'600}, {'d', 86'400}};

/// 90d, 12h, 30m, 45s. A bare number is refused: who means days by it would lose all but the last seconds.
std::chrono::seconds keep_of(const std::string& text) {
  std::uint64_t unit = 0;
  std::string_view digits = text;
  for (const auto& [letter, seconds] : keep_units) {
    if (digits.empty() || digits.back() != letter) continue;
    unit = seconds;
    digits.remove_suffix(1);
    break;
  }
  const auto number = whole_number(digits);
  if (number && unit == 0)
    throw UsageError("--keep is " + text + ", without a unit",
                     "such as " + text + "d, " + text + "h, " + text + "m or " + text + "s");
  if (!number || *number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / unit)
    throw UsageError("--keep is " + in_quotes(text),
                     "a whole number of days, hours, minutes or seconds: 90d, 12h, 30m or 45s");
  return std::chrono::seconds(static_cast<std::int64_t>(*number * unit));
}

Options retention_policy_options() {
  Options options = store_options();
  options.argument("NAME", "the policy's; one of that name is replaced")
      .value("events", "TYPE",
             "events of this type go one by one; those of aggregates where a snapshot stands for them")
      .value("truncate", "AGGREGATE_TYPE", "or of each aggregate of this type what a snapshot stands for")
      .value("remove", "AGGREGATE_TYPE", "or each aggregate of this type, as a whole, when its last event is as old")
      .value("keep", "TIME", "how long: 90d, 12h, 30m, 45s, counted from occurred_at")
      .flag("uncovered", "with --events: also where no snapshot stands for them");
  add_retention_flags(options, false);
  return options;
}

Outcome run_retention_policy(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  RetentionPolicy policy;
  policy.name = arguments.required("NAME");
  policy.keep = keep_of(arguments.required("keep"));
  policy.uncovered = arguments.has("uncovered");
  int kinds = 0;
  for (const auto kind :
       {RetentionPolicy::Kind::events, RetentionPolicy::Kind::truncate, RetentionPolicy::Kind::remove}) {
    const auto type = arguments.text(name_of(kind));
    if (!type) continue;
    ++kinds;
    policy.kind = kind;
    policy.type = *type;
  }
  if (kinds != 1)
    throw UsageError("what does the policy remove?", "say one of --events TYPE, --truncate TYPE, --remove TYPE");
  auto opened = invocation.open();
  if (!opened) return Failed(std::move(opened).error());
  auto& retention = opened->retention();
  const auto order = retention_order(invocation);
  if (auto done = retention.set_retention_policy(policy, order); !done) return Failed(Failure(std::move(done).error()));
  JsonText json;
  json.begin_object().key("policy").string(policy.name).key("done").boolean(!order.dry_run).end_object();
  print_one(invocation, json,
            {{order.dry_run ? "would be set" : "policy", policy.name},
             {"applied", "by `evershard retention run`, or by a server with --retention-every"}});
  return {};
}

Options retention_drop_options() {
  Options options = store_options();
  options.argument("NAME", "the policy's");
  add_retention_flags(options, false);
  return options;
}

Outcome run_retention_drop(const Invocation& invocation) {
  const auto name = invocation.arguments.required("NAME");
  auto opened = invocation.open();
  if (!opened) return Failed(std::move(opened).error());
  auto& retention = opened->retention();
  const auto order = retention_order(invocation);
  if (auto done = retention.drop_retention_policy(name, order); !done) return Failed(Failure(std::move(done).error()));
  JsonText json;
  json.begin_object().key("dropped").string(name).key("done").boolean(!order.dry_run).end_object();
  print_one(invocation, json, {{order.dry_run ? "would be dropped" : "dropped", name}});
  return {};
}

Outcome run_retention_policies(const Invocation& invocation) {
  auto opened = invocation.open();
  if (!opened) return Failed(std::move(opened).error());
  auto& retention = opened->retention();
  auto policies = retention.retention_policies();
  if (!policies) return Failed(Failure(std::move(policies).error()));
  ListPrinter list(invocation, {{"name"}, {"kind"}, {"type"}, {"keep", true}, {"uncovered"}});
  for (const auto& policy : *policies) {
    const auto seconds = static_cast<std::uint64_t>(policy.keep.count());
    if (invocation.for_people()) {
      list.row({policy.name, std::string(name_of(policy.kind)), policy.type, grouped(seconds) + " s",
                policy.uncovered ? "yes" : "no"});
      continue;
    }
    JsonText json;
    write_retention_policy(json, policy);
    list.json(json.text());
  }
  list.finish();
  return {};
}

}  // namespace

Command retention_policy_command() {
  return {"retention policy",
          "retention",
          "Sets a time to live: of events of a type, or of aggregates of a type.",
          "evershard retention policy carts --remove cart --keep 90d --data shop",
          retention_policy_options,
          run_retention_policy};
}
Command retention_drop_command() {
  return {"retention drop",
          "retention",
          "Drops a policy; what it removed stays removed.",
          "evershard retention drop carts --data shop",
          retention_drop_options,
          run_retention_drop};
}
Command retention_policies_command() {
  return {"retention policies",  "retention",
          "Lists the policies.", "evershard retention policies --data shop",
          store_options,         run_retention_policies};
}

}  // namespace evershard::cli
