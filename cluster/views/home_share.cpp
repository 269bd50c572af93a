#include "evershard/cluster/views/home_share.hpp"

#include <iterator>
#include <optional>
#include <utility>

namespace evershard::cluster {
namespace {

constexpr std::uint32_t definitions_at_once = 1'000;

}  // namespace

bool HomeShare::is_elsewhere(const AggregateId& definition) const {
  const auto owner = homes_.owner(definition);
  return owner != 0 && owner != homes_.node();
}

Result<std::vector<AggregateInfo>> HomeShare::here(const std::string& type) {
  NodeAggregatesAsked asked{homes_.open_here(), type, {}, definitions_at_once, node_.committer().watch().watermark()};
  std::vector<AggregateInfo> all;
  if (asked.shards.empty()) return all;
  for (;;) {
    auto some = node_.committer().reader().aggregates(asked);
    if (!some) return some;
    const bool last = some->size() < definitions_at_once;
    if (!last) asked.after = some->back().aggregate;
    std::move(some->begin(), some->end(), std::back_inserter(all));
    if (last) return all;
  }
}

}  // namespace evershard::cluster
