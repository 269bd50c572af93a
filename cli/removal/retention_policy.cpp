// `evershard retention policy`, `drop`, `policies`: time to live by rules that the store itself keeps.

#include "evershard/api/json/retention_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/removal/retention_flags.hpp"

namespace evershard::cli {
namespace {

/// A bare number is refused: who means days by it would lose all but the last seconds.
constexpr DurationRule keep_rule{.step = std::chrono::seconds(1)};

Options retention_policy_options() {
  Options options = store_options();
  options.argument("NAME", "the policy's name; a policy of that name is replaced")
      .value("events", "TYPE",
             "remove events of this type one by one; those of an aggregate only where a snapshot covers them")
      .value("truncate", "AGGREGATE_TYPE",
             "or remove, of each aggregate of this type, the events that a snapshot covers")
      .value("remove", "AGGREGATE_TYPE", "or remove whole aggregates of this type, when their last event is this old")
      .duration("keep", "how long an event is kept, counted from its occurred_at", keep_rule)
      .flag("uncovered", "with --events: also where no snapshot covers them");
  add_retention_flags(options, false);
  return options;
}

Outcome run_retention_policy(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  RetentionPolicy policy;
  policy.name = arguments.required("NAME");
  const auto keep = arguments.duration("keep");
  if (!keep) throw UsageError("--keep is missing");
  policy.keep = std::chrono::duration_cast<std::chrono::seconds>(*keep);
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
  options.argument("NAME", "the policy's name");
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
  auto opened = invocation.look();
  if (!opened) return Failed(std::move(opened).error());
  auto& retention = opened->retention();
  auto policies = retention.retention_policies();
  if (!policies) return Failed(Failure(std::move(policies).error()));
  ListPrinter list(invocation, {{"name"}, {"kind"}, {"type"}, {"keep", true}, {"uncovered"}});
  for (const auto& policy : *policies) {
    if (invocation.for_people()) {
      list.row({policy.name, std::string(name_of(policy.kind)), policy.type, text_of_duration(policy.keep),
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
          "Sets a time to live for the events or aggregates of a type.",
          "evershard retention policy carts --remove cart --keep 90d --data shop",
          retention_policy_options,
          run_retention_policy};
}
Command retention_drop_command() {
  return {"retention drop",
          "retention",
          "Drops a policy. What it removed stays removed.",
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
