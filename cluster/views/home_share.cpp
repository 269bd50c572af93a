#include "evershard/cluster/views/home_share.hpp"

#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace evershard::cluster {
namespace {

constexpr std::uint32_t definitions_at_once = 1'000;

}  // namespace

bool HomeShare::is_elsewhere(const AggregateId& definition) const {
  const auto owner = homes_.owner(definition);
  return owner != 0 && owner != homes_.node();
}

Result<DefinitionShare::Here> HomeShare::here(const std::string& type) {
  NodeAggregatesAsked asked{homes_.open_here(), type, {}, definitions_at_once, node_.committer().watch().watermark()};
  Here all{.covers = [&node = node_, open = std::set(asked.shards.begin(), asked.shards.end())](
                         const AggregateId& definition) { return open.contains(node.shard_of(definition)); }};
  if (asked.shards.empty()) return all;
  for (;;) {
    auto some = node_.committer().reader().aggregates(asked);
    if (!some) return refuse(std::move(some).error());
    const bool last = some->size() < definitions_at_once;
    if (!last) asked.after = some->back().aggregate;
    std::move(some->begin(), some->end(), std::back_inserter(all.definitions));
    if (last) return all;
  }
}

}  // namespace evershard::cluster
