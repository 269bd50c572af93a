#include "evershard/api/cluster_status.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

namespace evershard {
namespace {

/// Takes a whole number and the sign behind it off the front; the sign '\0': nothing may follow.
bool take_number(std::string_view& text, char sign, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (sign == '\0') return text.empty();
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string ShardLoss::text() const {
  auto text = std::to_string(shard.value) + ':' + std::to_string(from.value) + '-' + std::to_string(until.value - 1);
  if (unordered != 0) text += '+' + std::to_string(unordered);
  return text;
}

std::optional<ShardLoss> ShardLoss::parse(const std::string& given) {
  std::string_view text = given;
  std::uint64_t shard = 0, first = 0, last = 0, unordered = 0;
  const bool more = text.find('+') != std::string_view::npos;
  if (!take_number(text, ':', shard) || !take_number(text, '-', first) || !take_number(text, more ? '+' : '\0', last))
    return std::nullopt;
  if (more && !take_number(text, '\0', unordered)) return std::nullopt;
  if (shard > std::numeric_limits<std::uint16_t>::max() || first == 0 || last < first ||
      last == std::numeric_limits<std::uint64_t>::max())
    return std::nullopt;
  return ShardLoss{ShardId{static_cast<std::uint16_t>(shard)}, ShardOffset{first}, ShardOffset{last + 1}, unordered};
}

const char* name_of(ClusterChange::Cause cause) {
  using Cause = ClusterChange::Cause;
  switch (cause) {
    case Cause::leads:
      return "leads";
    case Cause::node_lost:
      return "node_lost";
    case Cause::node_silent:
      return "node_silent";
    case Cause::disk_full:
      return "disk_full";
    case Cause::disk_lacks:
      return "disk_lacks";
    case Cause::drained:
      return "drained";
    case Cause::removed:
      return "removed";
    case Cause::balanced:
      return "balanced";
    case Cause::assigned:
      return "assigned";
    case Cause::moved:
      return "moved";
    case Cause::learns:
      return "learns";
    case Cause::learned:
      return "learned";
    case Cause::left:
      return "left";
    case Cause::stands_still:
      return "stands_still";
  }
  return "unknown";
}

std::string sentence_of(const ClusterChange& change) {
  using Cause = ClusterChange::Cause;
  const auto from = "node " + std::to_string(change.from), to = "node " + std::to_string(change.to);
  switch (change.cause) {
    case Cause::leads:
      return "this coordinator leads";
    case Cause::node_lost:
      return change.from == change.to ? to + " was lost, and is back" : from + " was lost";
    case Cause::node_silent:
      return change.from == change.to ? to + " did not answer, and is back" : from + " did not answer";
    case Cause::disk_full:
      return "the disk of " + from + " is full";
    case Cause::disk_lacks:
      return "the disk of " + from + " lacks what is ordered";
    case Cause::drained:
      return from + " was drained";
    case Cause::removed:
      return from + " is to keep nothing";
    case Cause::balanced:
      return "all nodes write about as many shards";
    case Cause::assigned:
      return "an operator gave them to " + to;
    case Cause::moved:
      return from + " is to keep them no longer";
    case Cause::learns:
      return to + " is being given them";
    case Cause::learned:
      return to + " has learned them, and counts";
    case Cause::left:
      return from + " does not keep them any more";
    case Cause::stands_still:
      return from + " is here and applies nothing";
  }
  return "not known to this release";
}

std::vector<ClusterStatus::Set> ClusterStatus::sets() const {
  std::vector<Set> sets;
  const auto is_up = [&](std::uint32_t number) {
    return std::ranges::any_of(nodes, [&](const Node& node) { return node.is.node == number && node.is.up; });
  };
  for (std::size_t s = 0; s != shards.size(); ++s) {
    const auto& shard = shards[s];
    if (shard.replicas.empty()) continue;
    auto set = std::ranges::find_if(sets, [&](const Set& known) {
      return known.nodes == shard.replicas && known.learners == shard.learners && known.quorum == shard.quorum;
    });
    if (set == sets.end()) {
      sets.push_back({shard.replicas, shard.learners, shard.quorum, 0, {}, {}, {}});
      set = std::prev(sets.end());
      set->up = static_cast<std::uint32_t>(std::ranges::count_if(set->nodes, is_up));
    }
    set->shards.push_back(ShardId{static_cast<std::uint16_t>(s)});
    if (shard.without_quorum) set->trouble = shard.trouble;
    const auto leader = std::ranges::lower_bound(set->leaders, shard.node);
    if (shard.open && (leader == set->leaders.end() || *leader != shard.node)) set->leaders.insert(leader, shard.node);
  }
  return sets;
}

}  // namespace evershard
