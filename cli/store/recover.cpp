// `evershard recover`: says what is wrong with a store and what mending it costs; does it when told to.

#include "evershard/cli/command.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/recover_cut_log.hpp"
#include "evershard/cli/store/store_info.hpp"
#include "evershard/local/maintenance.hpp"

namespace evershard::cli {
namespace {

Options recover_options() {
  Options options = data_options();
  options.flag("yes", "repair it, and lose what was named; without it, nothing changes")
      .flag("cut-back",
            "end the store before its first gap, so that no position is missing; not for a node's directory")
      .flag("cut-log",
            "rebuild a lost coordinator's directory, in --data, from the nodes' directories; all must be stopped")
      .values("from", "DIR", "with --cut-log: a node's directory or a copy of it; once for each node")
      .flag("accept-unknown", "with --cut-log: leave positions empty whose events no node has");
  return options;
}

std::string range_text(const std::pair<GlobalPosition, GlobalPosition>& hole) {
  const std::uint64_t last = hole.second.value - 1;
  return last == hole.first.value ? std::to_string(last)
                                  : std::to_string(hole.first.value) + " to " + std::to_string(last);
}

void print(const Invocation& invocation, const RecoveryPlan& plan, bool done) {
  JsonText json;
  json.begin_object().key("done").boolean(done);
  if (plan.node != 0) json.key("node").number(plan.node).key("more_may_be_lost").boolean(plan.more_may_be_lost);
  json.key("acknowledged").number(plan.acknowledged.value);
  json.key("keeps").number(plan.keeps.value).key("lost").number(plan.lost).key("holes").begin_array();
  for (const auto& [from, until] : plan.holes) {
    json.begin_object()
        .key("first_position")
        .number(from.value)
        .key("last_position")
        .number(until.value - 1)
        .end_object();
  }
  json.end_array().key("findings").begin_array();
  for (const auto& finding : plan.findings) json.string(finding);
  json.end_array().key("steps").begin_array();
  for (const auto& step : plan.steps) json.string(step);
  json.end_array().key("unmended").begin_array();
  for (const auto& finding : plan.unmended) json.string(finding);
  json.end_array().end_object();

  Parts parts;
  if (plan.node != 0) parts.emplace_back("part of a cluster", "node " + std::to_string(plan.node) + "'s");
  parts.emplace_back("acknowledged up to", std::to_string(plan.acknowledged.value));
  parts.emplace_back("kept up to", std::to_string(plan.keeps.value));
  parts.emplace_back("lost", grouped(plan.lost) + (plan.lost == 1 ? " event" : " events") +
                                 (plan.more_may_be_lost ? ", and what its coordinator says when it is started" : ""));
  for (const auto& hole : plan.holes) parts.emplace_back("missing", "position " + range_text(hole));
  for (const auto& finding : plan.findings) parts.emplace_back("found", finding);
  for (const auto& step : plan.steps) parts.emplace_back(done ? "done" : "to be done", step);
  for (const auto& finding : plan.unmended) parts.emplace_back("not mended", finding);
  if (plan.steps.empty())
    parts.emplace_back("to be done",
                       plan.lost == 0 && plan.refusal.empty() && plan.unmended.empty()
                           ? "nothing: the store is fine"
                           : "nothing that would help: what is damaged stays so, and reading there says corruption");
  print_one(invocation, json, parts);
}

std::string what_mending_costs(const RecoveryPlan& plan) {
  if (plan.node != 0 && !plan.refusal.empty()) return "this part of a cluster's store cannot be mended here";
  if (plan.more_may_be_lost)
    return "mending it loses what this node had of the order behind position " + std::to_string(plan.keeps.value) +
           ", which only its coordinator knows";
  if (plan.lost == 0) return "nothing is lost by mending the store";
  return "mending the store loses " + std::to_string(plan.lost) + " events";
}

Outcome run_recover(const Invocation& invocation) {
  if (invocation.arguments.has("cut-log")) {
    invocation.arguments.refuse_beside("cut-log", {"cut-back"});
    return recover_cut_log(invocation);
  }
  if (invocation.arguments.has("from") || invocation.arguments.has("accept-unknown"))
    throw UsageError("--from and --accept-unknown need --cut-log");
  const bool yes = invocation.arguments.has("yes");
  const RecoveryOptions how{invocation.arguments.has("cut-back")};
  const auto directory = invocation.data_dir();
  LongWork work(invocation, yes ? "recover" : "look");
  auto plan = yes ? recover(directory, how, work.progress()) : plan_recovery(directory, how, work.progress());
  if (!plan) return Failed(work.failure(std::move(plan).error()));
  work.clear();
  print(invocation, *plan, yes);
  if (!plan->unmended.empty() && (yes || plan->steps.empty()))
    return Failed(Failure(
        ErrorCode::corruption,
        std::to_string(plan->unmended.size()) +
            (plan->unmended.size() == 1 ? " row is damaged and is not mended" : " rows are damaged and are not mended"),
        "restore a backup to be rid of them"));
  if (yes || (plan->steps.empty() && plan->refusal.empty())) return {};
  return Failed(Failure(ErrorCode::corruption, what_mending_costs(*plan) + "; nothing was changed",
                        plan->refusal.empty()
                            ? "do it with `evershard recover --yes`; keep a copy of the directory first"
                            : plan->refusal));
}

}  // namespace

Command recover_command() {
  return {"recover",
          "store",
          "Shows what is damaged and what a repair would lose. --yes repairs it.",
          "evershard recover --data shop",
          recover_options,
          run_recover,
          nullptr,
          "Without --yes it changes nothing and prints what would be lost."};
}

}  // namespace evershard::cli
