#include "evershard/cluster/replication/named_processes.hpp"

#include <utility>

namespace evershard::cluster {

NamedProcesses::Changes NamedProcesses::take(const Members& members) {
  Changes changes;
  if (members.coordinator < coordinator_) return changes;
  if (members.coordinator == coordinator_ && members.naming <= naming_ && members.naming != 0) return changes;
  coordinator_ = members.coordinator;
  naming_ = members.naming;
  names_nobody_ = naming_ == 0;
  const auto before = std::exchange(named_, {});
  for (const auto& process : members.processes) named_[process.node] = process.incarnation;
  // Of another coordinator too: whom it has not named may have been replaced under the one before, unheard of here.
  for (const auto& [node, process] : before) {
    const auto now = named_.find(node);
    if (now == named_.end() || now->second != process) changes.lost.push_back(node);
  }
  for (const auto& [node, said] : heard_) {
    const auto known = before.find(node);
    const bool counted = known != before.end() && known->second == said.process;
    if (!counted && counts(node, said.process)) changes.named.push_back(node);
  }
  return changes;
}

bool NamedProcesses::counts(std::uint32_t node, std::uint64_t process) const {
  if (names_nobody_ || process == 0) return true;
  const auto named = named_.find(node);
  return named != named_.end() && named->second == process;
}

bool NamedProcesses::hear(std::uint32_t node, const FollowerTold& told) {
  auto& known = heard_[node];
  if (known.process != told.process) known = {told.process};
  for (const auto& shard : told.shards) known.shards.insert_or_assign(shard.shard, shard);
  return counts(node, told.process);
}

// What was on its way when it was said is not known: it goes on from its tails.
std::optional<FollowerTold> NamedProcesses::heard(std::uint32_t node) const {
  const auto said = heard_.find(node);
  if (said == heard_.end()) return std::nullopt;
  FollowerTold told{{}, true, said->second.process};
  for (const auto& [id, shard] : said->second.shards) told.shards.push_back(shard);
  return told;
}

}  // namespace evershard::cluster
