// `evershard cluster assign`: shards whose node is gone for good go on at another one.

#include <algorithm>
#include <limits>

#include "evershard/cli/command.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/server/cluster_flags.hpp"
#include "evershard/cli/server/cluster_spread.hpp"

namespace evershard::cli {
namespace {

constexpr std::chrono::seconds hand_over_max{10};

Options assign_options() {
  Options options = cluster_options();
  options.argument("SHARDS", "the shards: 3, or 3,5,8", false)
      .value("of", "NODE", "all shards of this node instead")
      .value("to", "NODE", "the node that takes the shards; it must be up")
      .values("accept-loss", "LOSS",
              "a loss you accept, exactly as this command prints it without the flag; once for each shard");
  return options;
}

tl::expected<std::vector<ShardId>, Failure> shards_of_node(Remote& node, std::uint64_t of) {
  auto status = node.cluster_status();
  if (!status) return Failed(Failure(std::move(status).error()));
  std::vector<ShardId> shards;
  for (std::size_t s = 0; s != status->shards.size(); ++s)
    if (status->shards[s].node == of) shards.push_back(ShardId{static_cast<std::uint16_t>(s)});
  if (shards.empty()) return Failed(Failure(ErrorCode::not_found, "node " + std::to_string(of) + " owns no shard"));
  return shards;
}

Failure not_accepted(const ShardAssignment& wanted, const ShardsAssigned& answer) {
  std::string what = "nothing was done: ";
  std::string flags;
  for (const auto& loss : answer.losses) {
    what += "shard " + std::to_string(loss.shard.value) + " would lose its events at offsets " +
            std::to_string(loss.from.value) + " to " + std::to_string(loss.until.value - 1) +
            (loss.unordered == 0 ? "" : " and " + std::to_string(loss.unordered) + " that have no position yet") + "; ";
    flags += " --accept-loss " + loss.text();
  }
  if (answer.losses.empty())
    return {
        ErrorCode::corruption,
        "nothing was done: nothing would be lost on node " + std::to_string(wanted.node) + ", but a loss was accepted",
        "look again without --accept-loss"};
  what.resize(what.size() - 2);
  return {ErrorCode::corruption, what,
          "start the node on its disk or a backup of it, if there is one; or accept exactly this with" + flags};
}

Outcome run_cluster_assign(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto to = whole_number(arguments.required("to"));
  if (!to || *to == 0 || *to > std::numeric_limits<std::uint32_t>::max())
    throw UsageError("--to is " + arguments.required("to"), "the number of a node");
  ShardAssignment wanted;
  wanted.node = static_cast<std::uint32_t>(*to);
  for (const auto& text : arguments.texts("accept-loss")) {
    const auto loss = ShardLoss::parse(text);
    if (!loss)
      throw UsageError("--accept-loss is " + text,
                       "such as 3:1-40, shard, first and last offset, as this command names it");
    wanted.accepted.push_back(*loss);
  }
  const auto named = arguments.text("SHARDS");
  if (named.has_value() == arguments.has("of")) throw UsageError("which shards?", "name them, or say --of NODE");
  auto node = node_asked(invocation);
  if (!node) return Failed(std::move(node).error());
  if (named) {
    wanted.shards = shards_in(*named);
  } else {
    auto shards = shards_of_node(*node, arguments.number_at_least("of", 1));
    if (!shards) return Failed(std::move(shards).error());
    wanted.shards = std::move(*shards);
  }
  const auto answer = node->cluster_assign(wanted);
  if (!answer) return Failed(Failure(answer.error()));
  if (!answer->done) return Failed(not_accepted(wanted, *answer));
  // Of one whose writer is well: it is handed over.
  const auto given = wait_for_spread(invocation, *node, "given", hand_over_max, [&](const ClusterStatus& now) {
    SpreadProgress at{0, wanted.shards.size()};
    for (const auto shard : wanted.shards)
      at.done += shard.value < now.shards.size() && now.shards[shard.value].node == wanted.node ? 1 : 0;
    return at;
  });
  if (!given) return Failed(given.error());

  JsonText json;
  std::string shown;
  json.begin_object().key("node").number(wanted.node).key("shards").begin_array();
  for (const auto shard : wanted.shards) {
    json.number(shard.value);
    shown += (shown.empty() ? "" : ", ") + std::to_string(shard.value);
  }
  json.end_array().key("lost").begin_array();
  std::string lost;
  for (const auto& loss : answer->losses) {
    json.string(loss.text());
    lost += (lost.empty() ? "" : ", ") + loss.text();
  }
  json.end_array().end_object();
  print_one(invocation, json,
            {{"node", std::to_string(wanted.node)},
             {"goes on with shards", shown},
             {"lost", lost.empty() ? "nothing" : lost}});
  return {};
}

}  // namespace

Command cluster_assign_command() {
  return {"cluster assign",
          "cluster",
          "Gives shards to another node: of one that is gone for good, or to a replica.",
          "evershard cluster assign 3,5 --to 2 --server 127.0.0.1:7420",
          assign_options,
          run_cluster_assign};
}

}  // namespace evershard::cli
