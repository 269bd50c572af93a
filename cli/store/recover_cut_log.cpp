// `evershard recover --cut-log`: a coordinator's directory that is lost, made anew from the nodes'.

#include "evershard/cli/store/recover_cut_log.hpp"

#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/store_info.hpp"
#include "evershard/storage/order/rebuild_cut_log.hpp"

namespace evershard::cli {
namespace {

constexpr std::size_t ranges_shown_max = 100;

std::string positions_text(const std::pair<GlobalPosition, GlobalPosition>& range) {
  const auto last = range.second.value - 1;
  return std::to_string(range.first.value) + (last == range.first.value ? "" : " to " + std::to_string(last));
}

void print_rebuilt(const Invocation& invocation, const storage::RebuiltCutLog& rebuilt, bool done) {
  const auto& order = rebuilt.order;
  JsonText json;
  json.begin_object()
      .key("done")
      .boolean(done)
      .key("store_id")
      .string(rebuilt.identity.store.text())
      .key("shards")
      .number(rebuilt.identity.shards);
  json.key("last_cut")
      .number(order.state.last_cut.value)
      .key("watermark")
      .number(order.state.watermark.value)
      .key("unknown_positions")
      .number(order.unknown_positions);
  json.key("unknown").begin_array();
  Parts parts{{"cluster", rebuilt.identity.store.text()},
              {"last cut", grouped(order.state.last_cut.value)},
              {"every position up to", grouped(order.state.watermark.value)},
              {"unknown positions", grouped(order.unknown_positions)}};
  for (std::size_t i = 0; i != order.unknown.size() && i != ranges_shown_max; ++i) {
    const auto& range = order.unknown[i];
    json.begin_object()
        .key("first_position")
        .number(range.first.value)
        .key("last_position")
        .number(range.second.value - 1)
        .end_object();
    parts.emplace_back("unknown", "position " + positions_text(range) + ": no directory that was named has its event");
  }
  if (order.unknown.size() > ranges_shown_max)
    parts.emplace_back("unknown", "and " + grouped(order.unknown.size() - ranges_shown_max) + " more ranges");
  json.end_array().key("shards_of_nobody").begin_array();
  for (const auto shard : order.unowned) json.number(shard.value);
  if (!order.unowned.empty())
    parts.emplace_back("shards of nobody", grouped(order.unowned.size()) + ": they are given out anew");
  json.end_array().key("behind").begin_array();
  for (const auto& [node, cut] : order.behind) {
    json.begin_object().key("node").number(node).key("cut").number(cut.value).end_object();
    parts.emplace_back("behind", "node " + std::to_string(node) + " has applied cut " + grouped(cut.value));
  }
  json.end_array().end_object();
  parts.emplace_back(done ? "done" : "to be done", "a cut log in " + invocation.data_dir().string());
  print_one(invocation, json, parts);
}

}  // namespace

Outcome recover_cut_log(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  std::vector<std::filesystem::path> nodes;
  for (const auto& folder : arguments.texts("from")) nodes.emplace_back(folder);
  if (nodes.empty()) throw UsageError("--from is needed: the directory of a node, once for each node of the cluster");
  const auto folder = invocation.data_dir();
  LongWork work(invocation, "look");
  auto rebuilt = storage::look_for_cut_log(nodes, work.progress());
  if (!rebuilt) return Failed(work.failure(std::move(rebuilt).error()));
  work.clear();
  const bool unknown = rebuilt->order.unknown_positions != 0;
  const bool allowed = !unknown || arguments.has("accept-unknown");
  const bool does = arguments.has("yes") && allowed;
  if (does) {
    if (auto written = storage::write_cut_log(folder, *rebuilt); !written)
      return Failed(Failure(std::move(written).error()));
  }
  print_rebuilt(invocation, *rebuilt, does);
  if (does) return {};
  if (!allowed)
    return Failed(
        Failure(ErrorCode::corruption,
                grouped(rebuilt->order.unknown_positions) +
                    " positions have no event in these directories; nothing was changed",
                "name the directories of all nodes; if they are all there is, do it with --yes --accept-unknown: these "
                "positions stay empty, and what a node holds without a position gets a new one"));
  return Failed(Failure(ErrorCode::corruption,
                        "nothing that was acknowledged is lost by making the cut log anew; nothing was changed",
                        "do it with `evershard recover --cut-log --yes`"));
}

}  // namespace evershard::cli
